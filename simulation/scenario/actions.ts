/**
 * What people and parents do, each at a moment that the seed chooses. An action may be refused: that is an answer. What
 * was accepted is written down as a promise.
 */

import type { CancelResult } from "../../src/engine/cancel.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { type Caller, PERSON } from "../../src/engine/launch.ts";
import { allTasks } from "../../src/engine/watching/all-tasks.ts";
import type { After } from "../../src/model/after.ts";
import { messageOf } from "../../src/model/errors.ts";
import { awaitsRunner, isLive, type Task } from "../../src/model/task.ts";
import type { SimulatedHost } from "../agents/simulated-host.ts";
import type { Random } from "../time/random.ts";
import { BOARD_ACTIONS } from "./board-actions.ts";
import { type Action, launch, resume, resumeAsPerson } from "./launching.ts";
import { anyEngine, anyTask, type ParentSession, parentEngine, type Stage } from "./stage.ts";

/** How late a waiting caller may learn of an end; longer where every query may be slow. */
const WAIT_MS = 15_000;
const SLOW_WAIT_MS = 50_000;
/** For how long a person watches a task, and how quick they are when it has ended. */
const PATIENCE_MS = 60_000;
const HASTE_MS = 400;
/** How soon a person thinks better of a task. */
const SOON_MS = 15_000;
/** How late the tasks of a parent may be cancelled whose turn was stopped: events come late, and queries are slow. */
const STOP_ALL_MS = 120_000;

/** A request that was accepted, or that is tried again until it succeeds, must be obeyed. */
async function cancel({ machine, promises }: Stage, { id, run }: Task, cancelling: Promise<CancelResult>) {
  promises.stoppedRuns.add(`${id} ${run.number}`);
  const accept = (number: number) => promises.cancelled.set(`${id} ${number}`, machine.timeline.now);
  try {
    const { task, asked } = await cancelling;
    if (asked) accept(task.run.number);
    else if (task.status === "cancelled" && task.run.number === run.number)
      promises.overSince.set(`${id} ${run.number}`, machine.timeline.now);
  } catch (thrown) {
    if (messageOf(thrown).includes("is tried again until it ends")) accept(run.number);
    throw thrown;
  }
}

/** Who waits for a task learns soon that it has ended. */
async function wait({ machine, promises }: Stage, engine: Engine, task: Task, timeout: number): Promise<void> {
  const { waited } = await engine.output(task.parentSessionId, task.id, { timeout });
  const endedAt = machine.ends.of(task.id, task.run.number);
  if (waited !== "timeout" || endedAt === null) return;
  const ms = machine.troubles.calm(Math.max(endedAt, machine.timeline.now - timeout), machine.timeline.now);
  const isSlow = machine.faults.has("query is slow");
  if (ms > (isSlow ? SLOW_WAIT_MS : WAIT_MS))
    promises.broken.push(`somebody waited ${ms} ms for ${task.id}, which had ended`);
}

function callerOf({ machine }: Stage, { id: sessionId }: ParentSession): Caller {
  const messageId = machine.places.sessionsWith(sessionId).newId("msg");
  return { sessionId, messageId, agent: "build", model: null, variant: null };
}

/** On that machine, or on any. */
function livingParent({ parents }: Stage, random: Random, at?: string): ParentSession | null {
  const living = parents.filter(({ isDeleted, place }) => !isDeleted && place === (at ?? place));
  return living.length === 0 ? null : random.pick(living);
}

/** The programs that know the session: each kind of host has its own, on each machine. */
function hostsWith({ machine }: Stage, sessionId = ""): SimulatedHost[] {
  const place = machine.places.ofSession(sessionId);
  return machine.hosts.filter((host) => host.kind === "opencode" && host.place === place);
}

/** Does something for a parent: in the process that has it open, if any. */
async function asParent(
  stage: Stage,
  random: Random,
  work: (engine: Engine, parent: ParentSession) => Promise<unknown>,
): Promise<void> {
  const engine = parentEngine(stage, random);
  const parent = livingParent(stage, random, engine?.instance.machine);
  if (engine && parent) await work(engine, parent);
}

/** Stops what the parent has by then: also what it launches while that is under way. */
async function stopAll(
  stage: Stage,
  random: Random,
  work: (engine: Engine, parent: ParentSession, live: readonly Task[]) => Promise<unknown>,
): Promise<void> {
  const { machine, promises, truth } = stage;
  await asParent(stage, random, async (engine, parent) => {
    const live = await allTasks(truth, { parentSessionId: parent.id, status: ["running", "resumed"] });
    const stop = { sessionId: parent.id, from: machine.timeline.now, until: Number.POSITIVE_INFINITY };
    promises.stops.push(stop);
    await work(engine, parent, live).finally(() => {
      stop.until = machine.timeline.now;
    });
    for (const { id, run } of live) promises.cancelled.set(`${id} ${run.number}`, machine.timeline.now);
  });
}

/** One or two tasks of that parent to start after, most often the newest ones. Null if it has none. */
async function someOf({ truth }: Stage, random: Random, parentSessionId: string): Promise<After | null> {
  const { tasks } = await truth.tasks({ parentSessionId, limit: random.pick([2, 2, 20]) });
  const ids = tasks.map(({ id }) => id);
  if (ids.length === 0) return null;
  const chosen = new Set(random.chance(0.7) ? [random.pick(ids)] : [random.pick(ids), random.pick(ids)]);
  return { tasks: [...chosen], ifFailed: random.pick(["skip", "run_anyway"]) };
}

export const ACTIONS: Record<string, { weight: number; act: Action }> = {
  "a parent launches a task": {
    weight: 6,
    act: (stage, random) => asParent(stage, random, (engine, parent) => launch(stage, engine, callerOf(stage, parent))),
  },
  "a parent launches three tasks at once": {
    weight: 2,
    act: (stage, random) =>
      asParent(stage, random, async (engine, parent) => {
        const caller = callerOf(stage, parent);
        await Promise.allSettled([1, 2, 3].map(() => launch(stage, engine, caller)));
      }),
  },
  "a parent launches three tasks that do not wake it each": {
    weight: 1.5,
    act: (stage, random) =>
      asParent(stage, random, async (engine, parent) => {
        const caller = callerOf(stage, parent);
        const wake = random.pick(["all", "all", "failures", "never"] as const);
        await Promise.allSettled([1, 2, 3].map(() => launch(stage, engine, caller, { wake })));
      }),
  },
  "a parent launches a task after others": {
    weight: 3,
    act: (stage, random) =>
      asParent(stage, random, async (engine, parent) => {
        const after = await someOf(stage, random, parent.id);
        if (after) await launch(stage, engine, callerOf(stage, parent), { after });
      }),
  },
  "a person launches a task after others": {
    weight: 1,
    async act(stage, random) {
      const engine = anyEngine(stage, random);
      const after = await someOf(stage, random, "");
      if (engine && after) await launch(stage, engine, PERSON, { after });
    },
  },
  "a parent forks itself": {
    weight: 1,
    act: (stage, random) =>
      asParent(stage, random, (engine, parent) => launch(stage, engine, callerOf(stage, parent), { fork: true })),
  },
  "a person launches a task": {
    weight: 2,
    async act(stage, random) {
      const engine = anyEngine(stage, random);
      if (engine) await launch(stage, engine, PERSON);
    },
  },
  "a parent resumes a task": {
    weight: 3,
    act: (stage, random) =>
      asParent(stage, random, async (engine, parent) => {
        const task = await anyTask(stage, random, ({ parentSessionId }) => parentSessionId === parent.id);
        if (task) await resume(stage, (prompt) => engine.resume(callerOf(stage, parent), task.id, prompt));
      }),
  },
  "a person resumes a task": {
    weight: 3,
    async act(stage, random) {
      const engine = anyEngine(stage, random);
      const task = engine && (await anyTask(stage, random, ({ host }) => host === engine.instance.host));
      if (engine && task) await resumeAsPerson(stage, engine, task);
    },
  },
  "a parent cancels a task": {
    weight: 2,
    act: (stage, random) =>
      asParent(stage, random, async (engine, parent) => {
        const task = await anyTask(
          stage,
          random,
          ({ parentSessionId, status }) => parentSessionId === parent.id && isLive(status),
        );
        if (!task) return;
        // In two steps, as `engine.cancel` does it: meant is the run that it finds by then.
        const found = await engine.find(parent.id, task.id);
        await cancel(stage, found, engine.cancelTask(found, "cancelled by its parent"));
      }),
  },
  "a person cancels a task": {
    weight: 2,
    async act(stage, random) {
      const engine = anyEngine(stage, random);
      const isFitting = ({ status, host }: Task) => isLive(status) && host === engine?.instance.host;
      const task = engine && (await anyTask(stage, random, isFitting));
      if (engine && task) await cancel(stage, task, engine.cancelTask(task, "cancelled by a person"));
    },
  },
  "a person cancels a task as soon as it is prompted": {
    weight: 2,
    async act(stage, random) {
      const { machine } = stage;
      const delay = random.delay(SOON_MS);
      const tryTo = async (sessionId: string) => {
        const task = await stage.truth.task(sessionId);
        const engine = anyEngine(stage, random);
        if (task && engine && isLive(task.status) && task.host === engine.instance.host)
          await cancel(stage, task, engine.cancelTask(task, "cancelled by a person"));
      };
      random.pick(stage.roles).process.watch("prompt", (what) => {
        const sessionId = what.split(" ").at(-1) ?? "";
        machine.timeline.schedule(delay, () => machine.forget("a person", "cancels at once", tryTo(sessionId)));
      });
    },
  },
  "a parent cancels everything": {
    weight: 1,
    act: (stage, random) =>
      stopAll(stage, random, async (engine, parent, live) => {
        await engine.cancelAll(parent.id);
        for (const { id, run } of live) {
          const task = await stage.truth.task(id);
          if (task?.run.number === run.number && isLive(task.status) && task.cancelRequestedAt === null)
            stage.promises.broken.push(`run ${run.number} of ${id} was left out when everything was cancelled`);
        }
      }),
  },
  "a parent clears its list": {
    weight: 1,
    act: (stage, random) => stopAll(stage, random, (engine, parent) => engine.clear(parent.id)),
  },
  "a parent waits for a task": {
    weight: 2,
    act: (stage, random) =>
      asParent(stage, random, async (engine, parent) => {
        const task = await anyTask(stage, random, ({ parentSessionId }) => parentSessionId === parent.id);
        if (task) await wait(stage, engine, task, random.whole(0, 60_000));
      }),
  },
  "somebody waits until a parent was told": {
    weight: 1,
    act: (stage, random) =>
      asParent(stage, random, async (engine, parent) => {
        const task = await anyTask(stage, random, ({ parentSessionId }) => parentSessionId === parent.id);
        if (task) await engine.untilTold(task, new AbortController().signal);
      }),
  },
  "a person launches a task for another host": {
    weight: 1,
    async act({ machine, daemon, promises }) {
      const prompt = `prompt ${machine.newId("p")}`;
      promises.accepted.push({ id: (await daemon.launchElsewhere(prompt)).id, run: 0, prompt });
    },
  },
  "a person goes on as soon as a run ends": {
    weight: 2,
    async act(stage, random) {
      const isFitting = ({ status, host }: Task) => isLive(status) && host === "opencode";
      const isAttempts = (each: Task) => isFitting(each) && stage.attempts.includes(each.batchId);
      // Most often one with a queue: two want to go on with it.
      const task = (await anyTask(stage, random, isAttempts)) ?? (await anyTask(stage, random, isFitting));
      const delay = random.whole(0, HASTE_MS);
      const tryTo = async () => {
        const engine = parentEngine(stage, random);
        const now = task && (await stage.truth.task(task.id));
        if (engine && now) await resumeAsPerson(stage, engine, now);
      };
      const { ends, timeline } = stage.machine;
      const patience = timeline.now + PATIENCE_MS;
      const goOn = () => {
        if (timeline.now > patience) return;
        timeline.schedule(delay, () => stage.machine.forget("a person", "goes on", tryTo()));
      };
      if (task) ends.onEnd(task.id, task.run.number, goOn);
    },
  },
  "a person answers a request": {
    weight: 4,
    async act(stage, random) {
      const task = await anyTask(stage, random, ({ phase }) => phase === "waiting");
      const engine =
        task && stage.roles.flatMap((role) => role.engines()).find(({ instance }) => instance.id === task.owner);
      if (!task || !engine) return;
      const decision = random.chance(0.8) ? "once" : "reject";
      await engine.answerTask(task, { kind: "permission", decision, message: null });
    },
  },
  "a person answers in the agent's own program": {
    weight: 2,
    async act({ machine }, random) {
      const open = machine.hosts.flatMap(({ program }) => program.requests().map((request) => ({ program, request })));
      if (open.length === 0) return;
      const { program, request } = random.pick(open);
      program.answer(request.requestId, { kind: "permission", decision: "once", message: null });
    },
  },
  "a person writes to a task's session": {
    weight: 1,
    async act(stage, random) {
      const { machine } = stage;
      const task = await anyTask(stage, random, ({ sessionId }) => machine.places.has("opencode", sessionId));
      const hosts = hostsWith(stage, task?.sessionId);
      if (!task || hosts.length === 0) return;
      const { program } =
        hosts.find(({ program: each }) => each.busySessions.includes(task.sessionId)) ?? random.pick(hosts);
      machine.written.add(task.sessionId);
      const id = machine.places.sessionsWith(task.sessionId).newId("msg");
      program.add(task.sessionId, { id, text: "also do this", hidden: null }, true);
    },
  },
  "a person stops a task in its own session": {
    weight: 1,
    async act(stage, random) {
      const working = stage.machine.hosts.flatMap(({ program }) => program.busySessions.map((id) => ({ program, id })));
      if (working.length === 0) return;
      const { program, id } = random.pick(working);
      const { now } = stage.machine.timeline;
      const isParent = stage.parents.some((parent) => parent.id === id);
      stage.promises.stops.push({ sessionId: id, from: now, until: isParent ? now + STOP_ALL_MS : now });
      program.abort(id);
    },
  },
  "a person writes to a parent": {
    weight: 3,
    async act(stage, random) {
      const { machine, openCodes } = stage;
      const role = random.pick(openCodes);
      const parent = livingParent(stage, random, role.process.place);
      const [engine] = role.engines();
      const [host] = role.hosts();
      if (!parent || !engine || !host || role.process.isFrozen) return;
      const messageId = machine.places.sessionsWith(parent.id).newId("msg");
      host.program.add(parent.id, { id: messageId, text: "how is it going?", hidden: null }, true);
      await engine.handles({ sessionId: parent.id, agent: "build", model: null, variant: null, messageId });
    },
  },
  "a person deletes a task's session": {
    weight: 1,
    async act(stage, random) {
      const { machine } = stage;
      const task = await anyTask(stage, random, ({ sessionId }) => machine.places.has("opencode", sessionId));
      const hosts = hostsWith(stage, task?.sessionId);
      if (task && hosts.length > 0) random.pick(hosts).program.delete(task.sessionId);
    },
  },
  "a person deletes a parent": {
    weight: 0.5,
    async act(stage, random) {
      // Rather one whose task has no session that is deleted with it: it has none yet, or is a fork.
      const { places } = stage.machine;
      const isApart = ({ sessionId: id }: Task) =>
        places.has("opencode", id) && places.sessionsWith(id).get(id).parentId === null;
      const isLeft = (task: Task) => isLive(task.status) && (awaitsRunner(task) || isApart(task));
      const left = await anyTask(stage, random, (task) => task.parentSessionId !== "" && isLeft(task));
      const isItsParent = ({ id, isDeleted }: ParentSession) => id === left?.parentSessionId && !isDeleted;
      const parent = stage.parents.find(isItsParent) ?? livingParent(stage, random);
      const hosts = hostsWith(stage, parent?.id).filter(({ listeners }) => listeners > 0);
      if (!parent || hosts.length === 0) return;
      parent.isDeleted = true;
      parent.deletedAt = stage.machine.timeline.now;
      random.pick(hosts).program.delete(parent.id);
    },
  },
};

Object.assign(ACTIONS, BOARD_ACTIONS);

export interface PlannedAction {
  at: number;
  name: string;
}

/** What happens in a seed, in order of time: so many actions out of the table. */
export function planActions(
  random: Random,
  lengthMs: number,
  { table, least, most } = { table: ACTIONS, least: 3, most: 40 },
): PlannedAction[] {
  const names = Object.keys(table);
  const total = names.reduce((sum, name) => sum + (table[name]?.weight ?? 0), 0);
  const choose = () => {
    let left = random.next() * total;
    for (const name of names) {
      left -= table[name]?.weight ?? 0;
      if (left < 0) return name;
    }
    return names[0] ?? "";
  };
  const count = random.whole(least, most);
  return Array.from({ length: count }, () => ({ at: random.whole(0, lengthMs), name: choose() })).sort(
    (one, other) => one.at - other.at,
  );
}
