/**
 * What scripted hosts keep: sessions, their messages, and how far each has come in its script. Several hosts may share
 * one, as several OpenCodes share a database: then each knows only its own turns. In memory; runs nothing.
 */
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Tokens } from "../../model/progress.ts";
import { isDelay, type ScriptedAnswer, type ScriptedDelay, type ScriptedScript, scriptIn } from "./script.ts";

export interface ScriptedCall {
  id: string;
  name: string;
  /** Null while it runs, and where it failed. */
  output: string | null;
  error: string | null;
}

export interface UserMessage {
  id: string;
  role: "user";
  at: number;
  text: string;
  /** For the agent only. */
  hidden: string | null;
}

export interface AgentMessage {
  id: string;
  role: "assistant";
  at: number;
  /** Null while it is being written, and for ever where its host died. */
  endedAt: number | null;
  text: string;
  calls: ScriptedCall[];
  /** The turn ended with this message. */
  last: boolean;
  error: { message: string; aborted: boolean } | null;
  tokens: Tokens;
  cost: number;
}

export type ScriptedMessage = UserMessage | AgentMessage;

export interface ScriptedSession {
  id: string;
  parentId: string | null;
  title: string;
  agent: string;
  launchId: string | null;
  denyTools: readonly string[];
  messages: ScriptedMessage[];
  place: { script: string; next: number } | null;
}

export class ScriptedSessions {
  readonly #sessions = new Map<string, ScriptedSession>();
  readonly #scripts = new Map<string, ScriptedScript>();
  #ids: number;

  /** `firstId` goes on from where those before stopped. */
  constructor(firstId = 0) {
    this.#ids = firstId;
  }

  /** Ids sort in the order in which they were made. */
  newId(prefix: string): string {
    this.#ids++;
    return `${prefix}_${String(this.#ids).padStart(8, "0")}`;
  }

  script(name: string, steps: ScriptedScript): void {
    this.#scripts.set(name, steps);
  }

  /** Puts a session back that was kept elsewhere. */
  restore(session: ScriptedSession): void {
    this.#sessions.set(session.id, session);
  }

  /** Has the session follow these steps from now on. */
  follow(session: ScriptedSession, steps: ScriptedScript): void {
    const script = this.newId("script");
    this.script(script, steps);
    session.place = { script, next: 0 };
  }

  add(fields: Partial<Omit<ScriptedSession, "id" | "place">>): ScriptedSession {
    const session: ScriptedSession = {
      id: this.newId("ses"),
      parentId: null,
      title: "",
      agent: "",
      launchId: null,
      denyTools: [],
      messages: [],
      ...fields,
      place: null,
    };
    this.#sessions.set(session.id, session);
    return session;
  }

  has(id: string): boolean {
    return this.#sessions.has(id);
  }

  get(id: string): ScriptedSession {
    const session = this.#sessions.get(id);
    if (session) return session;
    throw new AsyncAgentsError("session_gone", `There is no scripted session ${id}`);
  }

  all(): ScriptedSession[] {
    return [...this.#sessions.values()];
  }

  remove(id: string): void {
    this.#sessions.delete(id);
  }

  /** The sessions above it, the nearest first. */
  above(id: string): string[] {
    const parentId = this.#sessions.get(id)?.parentId ?? null;
    return parentId === null ? [] : [parentId, ...this.above(parentId)];
  }

  /** The session and all that were opened below it, parents first. */
  withDescendants(id: string): ScriptedSession[] {
    const found = [this.get(id)];
    for (const session of found) found.push(...this.all().filter((child) => child.parentId === session.id));
    return found;
  }

  /** Adds a user message; one with the same id is replaced where it stands. A marker in it begins its script. */
  addUserMessage(session: ScriptedSession, message: UserMessage): void {
    const at = session.messages.findIndex((known) => known.id === message.id);
    if (at === -1) session.messages.push(message);
    else session.messages[at] = message;
    const script = scriptIn(message.text);
    if (script !== null && at === -1) session.place = { script, next: 0 };
  }

  /** Takes the next answer of the session's script, with what holds it up; null past the end or without a script. */
  nextAnswer(session: ScriptedSession): { delays: ScriptedDelay[]; answer: ScriptedAnswer | null } {
    const { place } = session;
    if (place === null) return { delays: [], answer: null };
    const steps = this.#scripts.get(place.script);
    if (steps === undefined) throw new AsyncAgentsError("host_failed", `No script "${place.script}" is known`);
    const delays: ScriptedDelay[] = [];
    for (;;) {
      const step = steps[place.next];
      if (step !== undefined) place.next++;
      if (step === undefined || !isDelay(step)) return { delays, answer: step ?? null };
      delays.push(step);
    }
  }
}
