/**
 * The scripted host: agents that follow a script, in memory, for tests and trials. Implements the seam and behaves like
 * real hosts (queues, forks, deletes, dies); reads no files and starts no programs. Its members are plain functions, so
 * that a test can replace any of them.
 */
import { type Clock, systemClock } from "../../process/clock.ts";
import type { Host, HostEvent, NotifyInput, PromptInput, StartInput, SteerInput } from "../host.ts";
import { scriptedEvidence } from "./evidence.ts";
import { condenseScripted, forkScripted } from "./fork.ts";
import { type ScriptedGate, scriptedGates } from "./gates.ts";
import { scriptedMessage } from "./messages.ts";
import type { ScriptedScript } from "./script.ts";
import { type ScriptedSession, ScriptedSessions } from "./sessions.ts";
import { ScriptedTurns } from "./turns.ts";

export interface ScriptedHostOptions {
  /** Two hosts with the same sessions behave like two processes. */
  sessions?: ScriptedSessions;
  /** The names of its agents. */
  agents?: readonly string[];
  now?(): number;
  /** Sets the timers of pauses and of turns that begin; those of the machine when absent. */
  after?: Clock["after"];
}

export interface ScriptedHost extends Required<Host> {
  readonly kind: "scripted";
  readonly sessions: ScriptedSessions;
  /** Adds or replaces a script. */
  script(name: string, steps: ScriptedScript): void;
  gate(name: string): ScriptedGate;
  /** Opens a session as a person would; returns its id. */
  openSession(title?: string): string;
  /** Whether an agent of this host works in the session. */
  isAtWork(sessionId: string): boolean;
  /** Deletes a session and its descendants. */
  deleteSession(sessionId: string): Promise<void>;
  /** Dies like a killed process: writes and reports nothing more. */
  crash(): void;
}

export function scriptedHost(options: ScriptedHostOptions = {}): ScriptedHost {
  const { sessions = new ScriptedSessions(), agents = ["general"], now = systemClock.now, after } = options;
  const listeners = new Set<(event: HostEvent) => void>();
  const emit = (event: HostEvent) => {
    for (const listener of [...listeners]) listener(event);
  };
  const gate = scriptedGates();
  const turns = new ScriptedTurns({
    sessions,
    gate,
    emit,
    now,
    after: after ?? systemClock.after,
    // Faster than a timer of the machine.
    soon: after === undefined ? setImmediate : (work) => void after(0, work),
  });

  const add = (session: ScriptedSession, messageId: string, text: string, hidden: string | null) => {
    sessions.addUserMessage(session, { id: messageId, role: "user", at: now(), text, hidden });
    emit({ type: "message.added", sessionId: session.id, messageId });
  };
  const remove = async (session: ScriptedSession) => {
    await turns.abort(session.id);
    sessions.remove(session.id);
    emit({ type: "session.deleted", sessionId: session.id });
  };

  return {
    kind: "scripted",
    defaultAgent: agents[0] ?? "general",
    sessions,
    gate,
    script: (name, steps) => sessions.script(name, steps),
    openSession: (title = "opened by a person") => sessions.add({ title }).id,
    isAtWork: (sessionId) => turns.isRunning(sessionId),
    crash() {
      listeners.clear();
      turns.crash();
    },
    async deleteSession(sessionId) {
      for (const session of sessions.withDescendants(sessionId).reverse()) await remove(session);
    },
    async start(input: StartInput) {
      const { parentSessionId, title, agent, launchId, denyTools } = input;
      const parentId = parentSessionId === "" ? null : sessions.get(parentSessionId).id;
      const session = sessions.add({ parentId, title, agent, launchId, denyTools });
      if (parentId !== null) emit({ type: "session.opened", sessionId: session.id, parentSessionId });
      return session.id;
    },
    async prompt(sessionId, { messageId, text }: PromptInput) {
      const session = sessions.get(sessionId);
      add(session, messageId, text, null);
      void turns.wake(session, messageId);
    },
    async abort(sessionId) {
      await Promise.all(sessions.withDescendants(sessionId).map((session) => turns.abort(session.id)));
    },
    inspect: async (sessionId, runMessageId, steering = []) =>
      scriptedEvidence(sessions.get(sessionId).messages, runMessageId, steering),
    statuses: async () => turns.statuses(),
    async messages(sessionId, { limit, before }) {
      const { messages } = sessions.get(sessionId);
      const end = before === null ? messages.length : messages.findIndex((message) => message.id === before);
      const start = Math.max(0, end - limit);
      const page = messages.slice(start, end);
      return {
        messages: page.map(scriptedMessage),
        before: start > 0 ? (page[0]?.id ?? null) : null,
      };
    },
    exists: async (sessionId) => sessions.has(sessionId),
    requests: async () => turns.requests(),
    answer: async (sessionId, requestId, reply) => turns.answer(sessionId, requestId, reply),
    agent: async (name) => (agents.includes(name) ? { name, description: null, model: null } : null),
    agents: async () => agents.map((name) => ({ name, description: null, model: null })),
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    newMessageId: () => sessions.newId("msg"),
    findLaunched: async ({ launchId }) => sessions.launched(launchId),
    fork: async (input) => forkScripted(sessions, input).id,
    async condense(sessionId, limits) {
      const messageId = condenseScripted(sessions, sessions.get(sessionId), limits, now());
      emit({ type: "message.added", sessionId, messageId });
    },
    async notify(sessionId, { messageId, visible, hidden, wake }: NotifyInput) {
      const session = sessions.get(sessionId);
      const isNew = !session.messages.some((message) => message.id === messageId);
      add(session, messageId, visible, hidden);
      if (wake && isNew) void turns.wake(session, messageId);
    },
    async steer(sessionId, { messageId, text }: SteerInput) {
      const session = sessions.get(sessionId);
      const isNew = !session.messages.some((message) => message.id === messageId);
      add(session, messageId, text, null);
      if (isNew) turns.steer(session, messageId);
    },
    hasMessage: async (sessionId, messageId) =>
      sessions.has(sessionId) && sessions.get(sessionId).messages.some((message) => message.id === messageId),
  };
}
