/**
 * The stage of the host suite: one opened host, its recorded events, and waits for them. Every wait is for an event and
 * has a timeout. Contains no expectations.
 */
import { test } from "bun:test";
import type { Host, HostEvent, StartInput } from "../../../hosts/host.ts";
import { markerOf, type ScriptedScript } from "../../../hosts/scripted/script.ts";
import { AsyncAgentsError, type ErrorCode } from "../../../model/errors.ts";
import type { Evidence } from "../../../model/evidence.ts";
import type { Message } from "../../../model/message.ts";
import { defaultTimeoutMs, Recorder } from "../../recorder.ts";

/** The longest that a case may take: a bed with more patience than usual may need most of it. */
export const HOST_TEST_TIMEOUT_MS = 120_000;

/** A host that was opened for the suite, plus the actions of a person. */
export interface HostBed {
  host: Host;
  /** An agent that may call tools, ask, and delegate to a child session. */
  agent: string;
  /** The host's name for the tool `bash` of the scripts, if it differs. */
  bashTool?: string;
  /** How long an event may take, in milliseconds, for programs that are slow to start; 40 seconds if absent. */
  patienceMs?: number;
  /** Throws for a step that the program cannot do, so that the case fails at once. */
  script(name: string, steps: ScriptedScript): void;
  gate(name: string): { reachedBy(count: number): Promise<void>; open(): void };
  /** Opens a session as a person would; returns its id. */
  openSession(): Promise<string>;
  deleteSession(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

/** What the program behind a host may be unable to do. */
export type HostAbility =
  /** Agents inside a session are sessions of their own. */
  | "childSessions"
  /** It says when its provider fails and it tries again. */
  | "reportedRetries"
  /** Its agents can ask questions. */
  | "questions"
  /** It counts the tokens of all model calls of a run. */
  | "runUsage"
  /** It shows what a tool returned. */
  | "toolOutputs"
  /** An answer without content is an answer. */
  | "emptyAnswers";
export type Lacks = Partial<Record<HostAbility, string>>;

export function check(title: string, work: () => Promise<void>): void {
  test(title, work, HOST_TEST_TIMEOUT_MS);
}

export class Stage {
  readonly #record = new Recorder<HostEvent>((event) => JSON.stringify(event).slice(0, 160));
  readonly #lacks: Lacks;
  #bed: HostBed | undefined;
  #count = 0;

  constructor(lacks: Lacks = {}) {
    this.#lacks = lacks;
  }

  can(ability: HostAbility): boolean {
    return this.#lacks[ability] === undefined;
  }

  open(bed: HostBed): void {
    this.#bed = bed;
    bed.host.onEvent((event) => this.#record.push(event));
  }

  async close(): Promise<void> {
    await this.#bed?.close();
  }

  get bed(): HostBed {
    if (this.#bed === undefined) throw new Error("the host was not opened");
    return this.#bed;
  }

  /** The name under which calls of `bash` are reported. */
  get bashTool(): string {
    return this.bed.bashTool ?? "bash";
  }

  get host(): Host {
    return this.bed.host;
  }

  get events(): HostEvent[] {
    return this.#record.items;
  }

  /** Registers a script under a new name; returns a prompt that follows it. */
  script(...steps: ScriptedScript): string {
    const name = `conformance-${++this.#count}`;
    this.bed.script(name, steps);
    return markerOf(name);
  }

  startInput(parentSessionId: string, fields: Partial<StartInput> = {}): StartInput {
    const { agent } = this.bed;
    const launchId = `lau_${++this.#count}`;
    const title = "Conformance";
    return { parentSessionId, parentAgent: agent, title, agent, model: null, launchId, denyTools: [], ...fields };
  }

  /** Starts a session for a task. */
  async session(): Promise<string> {
    return this.host.start(this.startInput(await this.bed.openSession()));
  }

  /** Sends a prompt; returns the id of its message. */
  async prompt(sessionId: string, text: string): Promise<string> {
    const messageId = this.host.newMessageId();
    await this.host.prompt(sessionId, { messageId, text, agent: this.bed.agent, model: null });
    return messageId;
  }

  /** Sends a prompt and waits for the end of its turn. */
  async run(sessionId: string, text: string): Promise<string> {
    const messageId = await this.prompt(sessionId, text);
    await this.idle(sessionId, messageId);
    return messageId;
  }

  /** Waits for the end of the turn that answered this message. */
  async idle(sessionId: string, messageId: string): Promise<void> {
    const taken = await this.event("message.taken", (event) => event.messageId === messageId);
    const from = this.events.indexOf(taken);
    await this.event("session.idle", (event) => event.sessionId === sessionId, from);
  }

  async event<T extends HostEvent["type"]>(
    type: T,
    fits: (event: Extract<HostEvent, { type: T }>) => boolean,
    from = 0,
  ): Promise<Extract<HostEvent, { type: T }>> {
    type Wanted = Extract<HostEvent, { type: T }>;
    const isWanted = (event: HostEvent) => event.type === type && fits(event as Wanted);
    const { patienceMs = defaultTimeoutMs } = this.bed;
    const wait = { what: `${type} with ${fits}`, from, timeoutMs: patienceMs };
    return (await this.#record.waitFor(isWanted, wait)) as Wanted;
  }

  async evidence(...steps: ScriptedScript): Promise<Evidence> {
    const session = await this.session();
    return this.host.inspect(session, await this.run(session, this.script(...steps)));
  }

  async messages(sessionId: string): Promise<Message[]> {
    return (await this.host.messages(sessionId, { limit: 100, before: null })).messages;
  }

  async shown(sessionId: string): Promise<string[]> {
    return (await this.messages(sessionId)).map(shown);
  }

  async roles(sessionId: string): Promise<string> {
    return (await this.messages(sessionId)).map((message) => message.role).join(" ");
  }
}

/** What the agent sees of a message: texts and tool outputs. */
function shown(message: Message): string {
  return message.parts
    .map((part) => ("text" in part ? part.text : part.type === "tool" ? (part.output ?? "") : ""))
    .filter((text) => text !== "")
    .join("\n");
}

/** The error code that the work rejects with. */
export async function rejectionCode(work: Promise<unknown>): Promise<ErrorCode | "none"> {
  try {
    await work;
    return "none";
  } catch (thrown) {
    if (AsyncAgentsError.isInstance(thrown)) return thrown.code;
    throw thrown;
  }
}
