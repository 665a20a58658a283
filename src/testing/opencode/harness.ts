/**
 * A real OpenCode for tests: temporary HOME and project, the process, its events, and waits for them. Invariant: waits
 * follow events and have timeouts; their errors show the last events, stderr and the end of OpenCode's log. `stop`
 * leaves no process and no temporary folder behind. Knows nothing about asyncagents: the caller adds the plugin.
 */
import { rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Session } from "@opencode-ai/sdk/v2";
import { bounded, defaultTimeoutMs, Recorder } from "../recorder.ts";
import { type CreateSession, type MessageWithParts, OpenCodeClient, type PromptOptions } from "./client.ts";
import { connectEvents, type EventConnection, type RecordedEvent, summarizeEvent } from "./events.ts";
import { createProject, createTemporaryRoot, modelId, type OpenCodeSettings, prepareHome, providerId } from "./home.ts";
import { newMessageId } from "./id.ts";
import {
  lastLines,
  logTail,
  type ProcessExit,
  type ProcessOutput,
  type RunningOpenCode,
  startProcess,
} from "./process.ts";
import { TurnWatcher } from "./turn-watcher.ts";

export interface OpenCodeOptions extends OpenCodeSettings {
  /** A HOME to share with another process; `stop` keeps it. */
  home?: string;
  /** An existing project directory; `stop` keeps it. */
  directory?: string;
  env?: Record<string, string>;
  /** The files of the project that is created if no directory is given. */
  files?: Record<string, string>;
}

export type RecordedEventType = RecordedEvent["type"];
export type RecordedEventOf<T extends RecordedEventType> = Extract<RecordedEvent, { type: T }>;

export async function startOpenCode(options: OpenCodeOptions): Promise<OpenCode> {
  const root = await createTemporaryRoot();
  const home = options.home ?? join(root, "home");
  await prepareHome(home, options);
  await mkdir(join(root, "project"));
  const directory = options.directory ?? (await createProject(join(root, "project"), options.files));
  const opencode = new OpenCode(root, home, directory, options.env ?? {});
  try {
    await opencode.start();
    return opencode;
  } catch (error) {
    await opencode.stop();
    throw error;
  }
}

export class OpenCode {
  readonly home: string;
  readonly directory: string;
  readonly client: OpenCodeClient;
  /** Milliseconds from the start of the process until it listens, and until its instance first responds. */
  readonly timings = { listeningMs: 0, readyMs: 0 };
  readonly #root: string;
  readonly #env: Record<string, string>;
  readonly #output: ProcessOutput = { stdout: "", stderr: "" };
  readonly #record = new Recorder<RecordedEvent>(summarizeEvent, () => this.#stderrTail());
  readonly #turns: TurnWatcher;
  #process: RunningOpenCode | undefined;
  #connection: EventConnection | undefined;

  constructor(root: string, home: string, directory: string, env: Record<string, string>) {
    this.#root = root;
    this.home = home;
    this.directory = directory;
    this.#env = env;
    this.client = new OpenCodeClient("http://127.0.0.1", directory);
    this.#turns = new TurnWatcher(this.client, this.#record);
  }

  get url(): string {
    return this.client.url;
  }

  get pid(): number {
    if (this.#process === undefined) throw new Error("OpenCode was not started.");
    return this.#process.pid;
  }

  get running(): boolean {
    return this.#process?.running() ?? false;
  }

  /** All events since the first start, restarts included. */
  get events(): RecordedEvent[] {
    return this.#record.items;
  }

  output(): ProcessOutput {
    return { ...this.#output };
  }

  async start(): Promise<void> {
    const begun = performance.now();
    const { home, directory } = this;
    this.#turns.forget();
    this.#process = await startProcess({
      home,
      directory,
      temporaryFolder: this.#root,
      env: this.#env,
      output: this.#output,
    });
    this.timings.listeningMs = Math.round(performance.now() - begun);
    this.client.url = this.#process.url;
    this.#connection = await connectEvents(this.url, this.#record);
    // The first request for a directory starts its instance and loads the plugins.
    await this.#explained(this.client.request("GET", "/agent"));
    this.timings.readyMs = Math.round(performance.now() - begun);
  }

  createSession(input: CreateSession = {}, directory?: string): Promise<Session> {
    return this.#explained(this.client.createSession(input, directory));
  }

  /** Sends a prompt and returns the assistant's message at the end of the turn. */
  prompt(sessionId: string, text: string, options: PromptOptions = {}): Promise<MessageWithParts> {
    return this.#explained(this.client.prompt(sessionId, text, options));
  }

  /**
   * Sends a prompt and returns its message id as soon as OpenCode has accepted it; `waitIdle` then waits for its turn.
   */
  async promptAsync(sessionId: string, text: string, options: PromptOptions = {}): Promise<string> {
    const { messageID = newMessageId(), ...rest } = options;
    const from = this.events.length;
    await this.#explained(this.client.promptAsync(sessionId, text, { messageID, ...rest }));
    if (!options.noReply) this.#turns.expect(sessionId, { messageID, from });
    return messageID;
  }

  messages(sessionId: string): Promise<MessageWithParts[]> {
    return this.#explained(this.client.messages(sessionId));
  }

  /** Has the session's history summarised by its model. */
  summarize(sessionId: string): Promise<boolean> {
    return this.#explained(this.client.summarize(sessionId, { providerID: providerId, modelID: modelId }));
  }

  abort(sessionId: string): Promise<boolean> {
    return this.#explained(this.client.abort(sessionId));
  }

  deleteSession(sessionId: string): Promise<boolean> {
    return this.#explained(this.client.deleteSession(sessionId));
  }

  /** The first matching event, past or future; `from` (an earlier `events.length`) excludes older ones. */
  waitForEvent(
    predicate: (event: RecordedEvent) => boolean,
    timeoutMs = defaultTimeoutMs,
    from = 0,
  ): Promise<RecordedEvent> {
    return this.#explained(this.#record.waitFor(predicate, { what: `an event with ${predicate}`, timeoutMs, from }));
  }

  /** Like `waitForEvent`, for one type of event, with its properties typed. */
  async waitForEventOf<T extends RecordedEventType>(
    type: T,
    matches: (properties: RecordedEventOf<T>["properties"]) => boolean = () => true,
    options: { timeoutMs?: number; from?: number } = {},
  ): Promise<RecordedEventOf<T>> {
    const isMatch = (event: RecordedEvent) =>
      event.type === type && matches(event.properties as RecordedEventOf<T>["properties"]);
    const found = await this.#explained(
      this.#record.waitFor(isMatch, { what: `event ${type} with ${matches}`, ...options }),
    );
    return found as RecordedEventOf<T>;
  }

  /**
   * Resolves when OpenCode is not working on a turn of that session: at once if it is idle, but never before the turn
   * of a `promptAsync` has started. The last events of the turn may still arrive later.
   */
  waitIdle(sessionId: string, timeoutMs = defaultTimeoutMs, directory?: string): Promise<void> {
    return this.#explained(this.#turns.idle(sessionId, timeoutMs, directory));
  }

  /** Waits for a process that exits by itself. */
  async exited(timeoutMs = defaultTimeoutMs): Promise<ProcessExit> {
    if (this.#process === undefined) throw new Error("OpenCode was not started.");
    return bounded(this.#process.exited, timeoutMs, () => `OpenCode (pid ${this.pid}) to end by itself.`);
  }

  kill(signal: NodeJS.Signals = "SIGKILL", timeoutMs?: number): Promise<ProcessExit> {
    if (this.#process === undefined) throw new Error("OpenCode was not started.");
    return this.#process.kill(signal, timeoutMs);
  }

  /** Ends the process if it still runs, and starts another one with the same HOME and directory. */
  async restart(): Promise<void> {
    await this.#end();
    await this.start();
  }

  /** Ends the process and removes the folders that this harness created. */
  async stop(): Promise<void> {
    await this.#end();
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #end(): Promise<void> {
    await this.#process?.stop();
    this.#connection?.close();
  }

  #stderrTail(): string {
    return `Last lines of stderr:\n${lastLines(this.#output.stderr)}`;
  }

  /** Adds the end of OpenCode's log to an error: most causes appear only there. */
  async #explained<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof Error) error.message += `\nEnd of OpenCode's log:\n${await logTail(this.home)}`;
      throw error;
    }
  }
}
