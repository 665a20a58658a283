/**
 * The host seam to an agent program, with everything that real ones do wrong: calls that fail, that fail after their
 * effect, or that arrive late; events that are lost, repeated, late or out of order; a status that leaves out a session
 * which is at work. The caller's process and the program may be two; each may be dead or frozen alone.
 */

import type { AgentInfo, Host, HostEvent, HostStatus } from "../../src/hosts/host.ts";
import { scriptedEvidence } from "../../src/hosts/scripted/evidence.ts";
import { condenseScripted, forkScripted } from "../../src/hosts/scripted/fork.ts";
import { scriptedMessage } from "../../src/hosts/scripted/messages.ts";
import type { ScriptedSessions } from "../../src/hosts/scripted/sessions.ts";
import { AsyncAgentsError, messageOf } from "../../src/model/errors.ts";
import { interruption } from "../../src/model/evidence.ts";
import type { Random } from "../time/random.ts";
import type { Fault, Faults } from "../world/faults.ts";
import type { History } from "../world/history.ts";
import type { SimulatedProcess } from "../world/simulated-process.ts";
import type { Troubles } from "../world/troubles.ts";
import { AgentProgram } from "./agent-program.ts";
import { weakCallsOf } from "./weak-calls.ts";
import type { WorkLog } from "./work-log.ts";

const CALL_MS = 30;
const RESTART_MS = 4_000;
const TIMEOUT_MS = 30_000;
const LATE_MS = 150_000;
const EVENT_MS = 40;
const LATE_EVENT_MS = 10_000;
/** How often a session is listed between two lies about it. */
const TRUTHS = 3;
/** Calls that change nothing, by their words. */
const READS = /^(inspect|statuses|messages|exists|requests|agents?|find launch|has)\b/;
/** Calls that are not worth a line in the history if they succeed. */
const QUIET: ReadonlySet<string> = new Set(["requests", "statuses", "agent", "agents"]);

export interface HostContext {
  kind: string;
  /** The process of the caller. */
  process: SimulatedProcess;
  /** Starts a process for the program; absent if the program runs in the caller's own, and ends with it. */
  startProgram?(): SimulatedProcess;
  sessions: ScriptedSessions;
  /** Called when a prompt or a notice leaves the caller. */
  sends(what: "prompt" | "notice", messageId: string): void;
  random: Random;
  faults: Faults;
  /** A call that goes wrong again and again is one: what depends on it takes longer. Stops have their own time. */
  troubles: Troubles;
  work: WorkLog;
  history: History;
}

export interface SimulatedHost extends Omit<Required<Host>, "steer"> {
  /** The machine that it is on. */
  readonly place: string;
  /** The program that runs now, or the last one. */
  readonly program: AgentProgram;
  /** How many listen to its events. */
  readonly listeners: number;
  /** Kills the program, if it has a process of its own. */
  killProgram(): void;
  /** From now on, and for that time, every call fails. */
  silence(ms: number): void;
}

export function simulatedHost(context: HostContext): SimulatedHost {
  const { kind, process, sessions, faults, troubles, work, history, startProgram = () => process } = context;
  const delays = context.random.split(`calls of ${process.name}`);
  const listeners = new Set<(event: HostEvent) => void>();
  /** Sessions that a status left out although they were at work, and how often they were listed since. */
  const leftOut = new Map<string, number>();
  const weakCalls = weakCallsOf(context.random);
  let lastEvent = 0;
  let silentUntil = 0;

  /** In order, unless one of them is late. */
  const emit = (event: HostEvent) => {
    if (faults.happens("event is lost")) {
      history.add(process.name, `the event ${event.type} is lost`);
      return;
    }
    const times = faults.happens("event comes twice") ? 2 : 1;
    for (let time = 0; time < times; time++) {
      const now = process.elapsed();
      const isLate = faults.happens("event comes late");
      const soon = now + delays.delay(EVENT_MS);
      const overtakes = soon < lastEvent && faults.happens("event overtakes another");
      const inOrder = overtakes ? soon : Math.max(lastEvent, soon);
      const at = isLate ? now + delays.whole(100, LATE_EVENT_MS) : inOrder;
      if (!isLate) lastEvent = at;
      void process.settle(at - now, () => {
        if (event.type === "message.added" && listeners.size > 0) work.heard(event.messageId);
        for (const listener of [...listeners]) listener(event);
      });
    }
  };
  let programProcess: SimulatedProcess;
  let program: AgentProgram;
  const begin = () => {
    programProcess = startProgram();
    program = new AgentProgram({ process: programProcess, sessions, random: context.random, work, history, emit });
    if (programProcess === process) return;
    programProcess.onEnd(() => void process.settle(delays.delay(CALL_MS), () => ended()));
  };
  /** A death is noticed for certain: it is the caller's own child. */
  const ended = () => {
    const reason = interruption(`${kind}'s process ended while the task was at work.`);
    for (const listener of [...listeners]) listener({ type: "host.ended", reason });
  };
  begin();

  const failed = (what: string) => new AsyncAgentsError("host_failed", `${kind} did not answer: ${what}`);
  const inTime = () => delays.whole(10, TIMEOUT_MS);
  const timesOut = (what: string) =>
    process.settle(inTime(), (): never => {
      throw failed(what);
    });

  /** A call whose effect may happen although it fails; `late`: also long after it failed. */
  const call = async <T>(what: string, effect: () => T, late = false): Promise<T> => {
    process.reaches(what);
    const say = (outcome: string) => history.add(process.name, `${what}: ${outcome}`);
    const weak = weakCalls.find(({ name }) => what.startsWith(name));
    const goesWrong = (fault: Fault) => {
      const isWrong = faults.isDrawn(fault, weak);
      // A lost answer of a call that only reads is the same as a lost call.
      const isLostCall = fault === "call fails after its effect" && READS.test(what);
      if (isWrong) faults.count(isLostCall ? "call fails" : fault);
      if (isWrong && weak && weak.name !== "abort") troubles.add(process.elapsed(), TIMEOUT_MS);
      return isWrong;
    };
    if (!program.isAlive && programProcess !== process) {
      await process.settle(delays.whole(1_000, RESTART_MS), () => {
        if (!program.isAlive) begin();
      });
    }
    if (process.elapsed() < silentUntil && !faults.isHealed) {
      say("nobody answers");
      return timesOut("it cannot be reached");
    }
    if (goesWrong("call fails")) {
      say("the request is lost");
      return timesOut("the request was lost");
    }
    if (late && goesWrong("call fails and arrives late")) {
      const target = program;
      say("will arrive late");
      programProcess.after(delays.whole(1_000, LATE_MS), () => {
        try {
          if (!target.isAlive) return;
          say("arrives late");
          effect();
        } catch {
          // Nobody hears of it.
        }
      });
      return timesOut("the time for it ran out");
    }
    const loses = goesWrong("call fails after its effect");
    const isSlow = goesWrong("call is slow");
    const isSlowToArrive = isSlow && delays.chance(0.5);
    const arrival = isSlowToArrive ? inTime() : delays.delay(CALL_MS);
    const reply = isSlow && !isSlowToArrive ? inTime() : delays.delay(CALL_MS);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const settle = (outcome: () => T) => void process.settle(reply, outcome).then(resolve, reject);
    programProcess.after(arrival, () => {
      try {
        const value = effect();
        if (!QUIET.has(what)) say(loses ? "done, and its answer is lost" : "done");
        settle(loses ? fails(failed("the response was lost")) : () => value);
      } catch (thrown) {
        say(messageOf(thrown));
        settle(fails(loses ? failed("the response was lost") : thrown));
      }
    });
    // A program in a process of its own may die during the call.
    if (programProcess !== process) programProcess.onEnd(() => settle(fails(failed("it ended"))));
    return promise;
  };

  /**
   * A status that leaves out a session at work: for one answer only, since two in a row are taken for the truth. Who
   * asks may not have been answered in between, or somebody else was: the truth is told several times before it lies
   * again, and once after the session was idle.
   */
  const lied = (statuses: Map<string, HostStatus>) => {
    const isLie = faults.isDrawn("status lies");
    for (const id of leftOut.keys()) if (!statuses.has(id)) leftOut.delete(id);
    for (const id of statuses.keys()) {
      const truths = leftOut.get(id) ?? TRUTHS - 1;
      leftOut.set(id, truths + 1);
      if (truths < TRUTHS || !isLie || !delays.chance(0.5)) continue;
      leftOut.set(id, 0);
      faults.count("status lies");
      statuses.delete(id);
      history.add(process.name, `the status call leaves out ${id}`);
    }
    return statuses;
  };

  const agents: AgentInfo[] = [{ name: "build", description: null, model: null }];
  return {
    kind,
    place: process.place,
    get program() {
      return program;
    },
    get listeners() {
      return listeners.size;
    },
    killProgram() {
      if (programProcess !== process) programProcess.die();
    },
    silence(ms) {
      silentUntil = Math.max(silentUntil, process.elapsed() + ms);
    },
    defaultAgent: "build",
    start: ({ parentSessionId, title, agent, launchId, denyTools }) =>
      call(
        "start",
        () => {
          const parentId = parentSessionId === "" ? null : sessions.get(parentSessionId).id;
          const { id } = sessions.add({ parentId, title, agent, launchId, denyTools });
          if (parentId !== null) emit({ type: "session.opened", sessionId: id, parentSessionId });
          return id;
        },
        true,
      ),
    prompt: (sessionId, { messageId, text }) => {
      work.asked(messageId);
      context.sends("prompt", messageId);
      return call(
        `prompt ${messageId} in ${sessionId}`,
        () => {
          work.sent(messageId, process.name, text);
          program.add(sessionId, { id: messageId, text, hidden: null }, true);
        },
        true,
      ).then(() => work.heard(messageId));
    },
    abort: (sessionId) => {
      work.triedToStop(sessionId);
      return call(`abort ${sessionId}`, () => program.abort(sessionId));
    },
    inspect: (sessionId, runMessageId, steering) =>
      call(`inspect ${sessionId}`, () =>
        scriptedEvidence(structuredClone(sessions.get(sessionId).messages), runMessageId, steering),
      ).then((evidence) => {
        work.read(sessionId);
        return evidence;
      }),
    statuses: async () => lied(await call("statuses", () => program.statuses())),
    messages: (sessionId, { limit }) =>
      call(`messages ${sessionId}`, () => ({
        messages: sessions.get(sessionId).messages.slice(-limit).map(scriptedMessage),
        before: null,
      })),
    exists: (sessionId) => call(`exists ${sessionId}`, () => sessions.has(sessionId)),
    requests: () => call("requests", () => program.requests()),
    answer: (_sessionId, requestId, reply) => call(`answer ${requestId}`, () => program.answer(requestId, reply)),
    agent: (name) => call("agent", () => agents.find((agent) => agent.name === name) ?? null),
    agents: () => call("agents", () => agents),
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    newMessageId: () => sessions.newId("msg"),
    findLaunched: ({ launchId }) =>
      call(
        `find launch ${launchId}`,
        () => sessions.all().find((session) => session.launchId === launchId)?.id ?? null,
      ),
    fork: (input) => call("fork", () => forkScripted(sessions, input).id, true),
    condense: (sessionId, limits) =>
      call(
        `condense ${sessionId}`,
        () => void condenseScripted(sessions, sessions.get(sessionId), limits, programProcess.now()),
      ),
    notify: (sessionId, { messageId, visible, hidden, wake }) => {
      context.sends("notice", messageId);
      return call(
        `notify ${sessionId} with ${messageId} (${hidden.replaceAll("\n", ", ")})`,
        () => {
          work.told(hidden);
          program.add(sessionId, { id: messageId, text: visible, hidden }, wake);
        },
        true,
      );
    },
    hasMessage: (sessionId, messageId) =>
      call(
        `has ${messageId} in ${sessionId}`,
        () => sessions.has(sessionId) && sessions.get(sessionId).messages.some(({ id }) => id === messageId),
      ),
  };
}

function fails(thrown: unknown): () => never {
  return () => {
    throw thrown;
  };
}
