/**
 * The state of scripted hosts: sessions, their messages, and the position of each in its script. Several hosts may
 * share it, as several OpenCodes share a database: each then knows only its own turns. In memory; runs nothing.
 */
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Tokens } from "../../model/progress.ts";
import { isDelay, type ScriptedAnswer, type ScriptedDelay, type ScriptedScript, scriptIn } from "./script.ts";

export interface ScriptedToolCall {
  id: string;
  name: string;
  /** Null while it runs, and if it failed. */
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
  /** Null while it is being written, and forever if its host died. */
  endedAt: number | null;
  text: string;
  calls: ScriptedToolCall[];
  /** This message ended the turn. */
  last: boolean;
  error: { message: string; aborted: boolean; until?: number } | null;
  tokens: Tokens;
  cost: number;
  /** The newest message of the user when it was begun; absent in sessions that an earlier version stored. */
  answers?: string;
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
  /** The sessions of launches, by the launch. */
  readonly #launched = new Map<string, string>();
  readonly #scripts = new Map<string, ScriptedScript>();
  #ids: number;
  readonly #readOther: (id: string) => ScriptedSession | null;
  readonly #process: number | null;

  /**
   * `firstId` continues the ids of an earlier process, `readOther` gives the present state of a session of another one
   * (null if there is none), and `process` makes the ids of processes that start at once differ.
   */
  constructor(
    firstId = 0,
    readOther: (id: string) => ScriptedSession | null = () => null,
    process: number | null = null,
  ) {
    this.#ids = firstId;
    this.#readOther = readOther;
    this.#process = process;
  }

  /** Ids sort in order of creation. */
  newId(prefix: string): string {
    this.#ids++;
    return `${prefix}_${String(this.#ids).padStart(8, "0")}${this.#mark()}`;
  }

  /** Processes may count from the same number. People use the end of an id, so that is the number again. */
  #mark(): string {
    if (this.#process === null) return "";
    return `${this.#process.toString(16).padStart(8, "0")}${String(this.#ids).slice(-8)}`;
  }

  script(name: string, steps: ScriptedScript): void {
    this.#scripts.set(name, steps);
  }

  /** Restores a stored session. */
  restore(session: ScriptedSession): void {
    this.#put(session);
  }

  /** Makes the session follow these steps from now on. */
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
    this.#put(session);
    return session;
  }

  has(id: string): boolean {
    return this.#sessions.has(id) || this.#readOther(id) !== null;
  }

  /** Whether it is one of this process. */
  holds(id: string): boolean {
    return this.#sessions.has(id);
  }

  /** Makes a session of another process one of this one, which changes it from now on. */
  adopt(id: string): void {
    this.restore(this.get(id));
  }

  get(id: string): ScriptedSession {
    const session = this.#sessions.get(id) ?? this.#readOther(id);
    if (session) return session;
    throw new AsyncAgentsError("session_gone", `There is no scripted session ${id}`);
  }

  /** The session that was made for a launch; null if there is none. */
  launched(launchId: string): string | null {
    return this.#launched.get(launchId) ?? null;
  }

  all(): ScriptedSession[] {
    return [...this.#sessions.values()];
  }

  remove(id: string): void {
    const launchId = this.#sessions.get(id)?.launchId;
    if (launchId != null && this.#launched.get(launchId) === id) this.#launched.delete(launchId);
    this.#sessions.delete(id);
  }

  #put(session: ScriptedSession): void {
    this.#sessions.set(session.id, session);
    const { launchId, id } = session;
    if (launchId !== null && !this.#launched.has(launchId)) this.#launched.set(launchId, id);
  }

  /** Its ancestor sessions, nearest first. */
  above(id: string): string[] {
    const parentId = this.#sessions.get(id)?.parentId ?? null;
    return parentId === null ? [] : [parentId, ...this.above(parentId)];
  }

  /** The session and all its descendants, parents first. */
  withDescendants(id: string): ScriptedSession[] {
    const found = [this.get(id)];
    for (const session of found) found.push(...this.all().filter((child) => child.parentId === session.id));
    return found;
  }

  /** Adds a user message, or replaces the one with the same id. A marker in it starts its script. */
  addUserMessage(session: ScriptedSession, message: UserMessage): void {
    const at = session.messages.findIndex((known) => known.id === message.id);
    if (at === -1) session.messages.push(message);
    else session.messages[at] = message;
    const script = scriptIn(message.text);
    if (script !== null && at === -1) session.place = { script, next: 0 };
  }

  /** Advances the session's script: its next answer and the delays before it; null at the end or without a script. */
  nextAnswer(session: ScriptedSession): { delays: ScriptedDelay[]; answer: ScriptedAnswer | null } {
    const { place } = session;
    if (place === null) return { delays: [], answer: null };
    const steps = this.#scripts.get(place.script);
    if (steps === undefined)
      throw new AsyncAgentsError("host_failed", `There is no script "${place.script}". Register it with script().`);
    const delays: ScriptedDelay[] = [];
    for (;;) {
      const step = steps[place.next];
      if (step !== undefined) place.next++;
      if (step === undefined || !isDelay(step)) return { delays, answer: step ?? null };
      delays.push(step);
    }
  }
}
