/**
 * An open Claude session: reads its messages as long as it lives, whether or not someone iterates, and passes them to
 * the TaskManager. Invariant: when the process is gone, for whatever reason, every wait has settled and nothing of it
 * is left.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { limitsOf, settlesWithin, type WaitOptions, within } from "../../process/deadline.ts";
import { ClaudeTimeoutError, MessageParseError } from "../errors.ts";
import type { ClaudeMessage, ResultMessage } from "../messages/message-schemas.ts";
import { isMessage, parseMessage } from "../messages/parse-message.ts";
import type { SdkMessage, SdkQuery } from "../sdk.ts";
import type { SubagentHooks } from "../tasks/subagent-hooks.ts";
import type { Task } from "../tasks/task.ts";
import type { TaskManager } from "../tasks/task-manager.ts";
import { BoundedStream } from "./bounded-stream.ts";
import type { ClaudeProcess, ProcessEnd } from "./claude-process.ts";
import { checkPrompt, type Prompt } from "./prompt.ts";
import type { UserInput } from "./user-input.ts";

/** How to end a session: at once, or after its tasks have ended or that many milliseconds have passed. */
export type CloseOptions = { stop: true } | { wait: number };

/** Appears in the stream of messages if this reader was too slow, and counts what it lost before the next message. */
export interface MessagesDropped {
  type: "messages.dropped";
  count: number;
  /** Approximately how much memory they used. */
  bytes: number;
}

/** What iterating a session yields. */
export type SessionMessage = SdkMessage | MessagesDropped;

/** What a session is made of. */
interface SessionParts {
  query: SdkQuery;
  input: UserInput;
  child: ClaudeProcess;
  tasks: TaskManager;
  hooks: SubagentHooks;
  /** How many messages, and how many bytes of them, are buffered for a slow reader. */
  buffer: { messages: number; bytes: number };
}

/** Longer than Claude needs from the end of a task to the turn that it causes. */
const QUIET_MS = 750;
/** How long Claude may take to answer a request, or to exit when asked to. */
const GRACE_MS = 2_000;
const INTERRUPT_MS = 10_000;
/** How long the remaining output of a dead process may take to arrive. */
const DRAIN_MS = 1_000;

/** A Claude session. Iterate it for its messages. */
export class ClaudeSession implements AsyncIterable<SessionMessage>, AsyncDisposable {
  /** The tasks of this session. */
  readonly tasks: TaskManager;
  /** The SDK's query, for what this library does not cover. Do not iterate or close it. */
  readonly query: SdkQuery;
  readonly #parts: SessionParts;
  readonly #streams = new Set<BoundedStream<SessionMessage>>();
  readonly #over: Promise<void>;
  readonly #changed = new Set<() => void>();
  /** From the beginning, for the first reader. */
  #first: BoundedStream<SessionMessage> | undefined;
  #sessionId: string | undefined;
  #isBusy = false;
  #tellsState = false;
  /** Claude's last reported state is unknown to us: it may have nothing left to do. */
  #isUnsure = false;
  #isOver = false;
  #endsByItself = false;
  #closing: Promise<void> | undefined;
  /** From now on we end the session ourselves, so its end is not a failure. */
  #isForced = false;
  #hurry = () => {};
  readonly #hurried = new Promise<void>((resolve) => {
    this.#hurry = resolve;
  });
  #failure: AsyncAgentsError | undefined;
  #isQuiet = false;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #drain: ReturnType<typeof setTimeout> | undefined;

  /** @internal Use openClaude to create sessions. */
  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.tasks = parts.tasks;
    this.query = parts.query;
    this.#first = this.#subscribe();
    this.tasks.onEnded(() => this.#look());
    this.#over = this.#run();
  }

  /** Known after the first message. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** The id of Claude's process. */
  get pid(): number | undefined {
    return this.#parts.child.pid;
  }

  /**
   * The messages: from the beginning for the first reader, from now on for others. Leaving the loop ends nothing else.
   * A reader that does not keep up loses the oldest messages, and gets a `messages.dropped` in their place.
   */
  [Symbol.asyncIterator](): AsyncIterator<SessionMessage> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#subscribe();
  }

  /**
   * Sends Claude a prompt, which it handles at once or after the current turn. Resolves with the result of its turn,
   * however long that takes, unless there is a timeout. After a timeout or an abort the turn continues: interrupt()
   * stops it. If the limits are invalid, nothing is sent.
   */
  send(prompt: Prompt, options: WaitOptions = {}): Promise<ResultMessage> {
    const result = this.#send(prompt, options);
    // A caller that ignores the result must not get an unhandled rejection.
    result.catch(() => {});
    return result;
  }

  /** Sends Claude the only prompt: once everything that follows from it is done, the session ends by itself. */
  sendOnly(prompt: Prompt): void {
    this.#endsByItself = true;
    // A failure reaches those who read the messages.
    void this.send(prompt);
  }

  /**
   * Stops the current turn. Background tasks continue. Rejects if Claude does not respond, after 10 seconds by default.
   */
  async interrupt(options: WaitOptions = {}): Promise<void> {
    const limits = limitsOf(options, INTERRUPT_MS);
    await within(this.query.interrupt(), limits, (timeout) => frozen("Claude did not stop its turn", timeout));
  }

  /**
   * Ends the session and everything it started. With `wait`, first lets the turn and the background tasks end within
   * that time; what still runs then is stopped. `stop` stops everything at once, and also cuts such a wait short. Never
   * rejects, and takes at most a few seconds longer than `wait`, even if Claude is frozen.
   */
  close(how: CloseOptions = { stop: true }): Promise<void> {
    if ("stop" in how) this.#hurry();
    this.#closing ??= this.#close(how);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #send(prompt: Prompt, options: WaitOptions): Promise<ResultMessage> {
    const limits = limitsOf(options);
    checkPrompt(prompt);
    const sent = this.#parts.input.send(prompt);
    this.#isBusy = true;
    return within(sent, limits, (timeout) => frozen("The turn has not ended", timeout));
  }

  async #close(how: CloseOptions): Promise<void> {
    // Treat an invalid wait as none.
    if ("wait" in how && how.wait > 0) await Promise.race([this.#endGently(how.wait), this.#hurried]);
    this.#isForced = true;
    const answers = this.#isOver || (await this.#stopAll());
    this.#parts.input.end();
    await this.#parts.child.end(answers ? GRACE_MS : 0);
    this.query.close();
    await settlesWithin(this.#over, { timeout: DRAIN_MS });
    this.#finish("the session was closed");
    await settlesWithin(this.#parts.hooks.settled(), { timeout: GRACE_MS });
  }

  /** Stops the turn, then the tasks. False if Claude does not respond: then it is not asked again. */
  async #stopAll(): Promise<boolean> {
    const live = this.tasks.list({ live: true });
    if (this.#isBusy && !(await settlesWithin(this.query.interrupt(), { timeout: GRACE_MS }))) return false;
    const cancelled = Promise.all(live.map((task) => task.cancel()));
    return settlesWithin(cancelled, { timeout: GRACE_MS });
  }

  async #run(): Promise<void> {
    const { child } = this.#parts;
    void child.exited.then((end) => {
      this.#drain = setTimeout(() => this.#ended(end, undefined), DRAIN_MS);
    });
    let failure: unknown;
    try {
      for await (const message of this.query) this.#receive(message);
    } catch (thrown) {
      failure = thrown;
    }
    void child.end(GRACE_MS);
    this.#ended(await child.exited, failure);
  }

  #ended(end: ProcessEnd, cause: unknown): void {
    const isFailure = cause !== undefined || end.code !== 0;
    if (isFailure && !this.#isForced && !this.#isOver) {
      const told = [wordsFor(end), cause === undefined ? "" : messageOf(cause), end.complaint];
      const message = told.filter((words) => words !== "").join(": ");
      this.#failure = new AsyncAgentsError("host_failed", message, { cause });
    }
    this.#finish(wordsFor(end));
  }

  #receive(message: SdkMessage): void {
    for (const stream of this.#streams) stream.push(message);
    try {
      // First, since it also handles messages that cannot be parsed.
      this.tasks.track(message);
      this.#read(parseMessage(message));
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new MessageParseError(message.type, "", messageOf(thrown));
      this.tasks.report({ type: "message.rejected", error });
    }
    this.#look();
  }

  #read(message: ClaudeMessage): void {
    if (typeof message.session_id === "string") this.#sessionId = message.session_id;
    if (isMessage(message, "session_state_changed")) {
      this.#tellsState = true;
      this.#isUnsure = message.state === undefined;
      this.#isBusy = message.state !== "idle";
    }
    if (isMessage(message, "result")) {
      this.#parts.input.settle(message);
      // An older CLI reports no more than this.
      if (!this.#tellsState) this.#isBusy = false;
    }
  }

  get #isDone(): boolean {
    const waits = (task: Task) => task.isBackground && !task.isAmbient;
    // If the state is unknown, end the input: Claude exits when it has finished its work.
    const mayBeIdle = !this.#isBusy || this.#isUnsure;
    return mayBeIdle && this.#parts.input.pending === 0 && !this.tasks.list({ live: true }).some(waits);
  }

  /**
   * Something changed: perhaps all is done. The end of a task causes a turn, so wait until it has been quiet for a
   * while.
   */
  #look(): void {
    clearTimeout(this.#quiet);
    this.#isQuiet = false;
    if (!this.#isDone || this.#isOver) return;
    this.#quiet = setTimeout(() => {
      this.#isQuiet = true;
      if (this.#endsByItself) void this.close({ wait: Number.POSITIVE_INFINITY });
      for (const tell of this.#changed) tell();
    }, QUIET_MS);
  }

  /** Waits until all is done, then closes the input, and gives a turn that starts even then the time it needs. */
  async #endGently(limitMs: number): Promise<void> {
    const end = Date.now() + limitMs;
    const isLate = () => Date.now() >= end;
    while (!this.#isQuiet && !this.#isOver && !isLate()) {
      await settlesWithin(this.#nextQuiet(), { timeout: end - Date.now() });
    }
    if (!this.#isQuiet || this.#isForced) return;
    this.#parts.input.end();
    do {
      await settlesWithin(this.#over, { timeout: Math.min(GRACE_MS, end - Date.now()) });
    } while (!this.#isOver && this.#isBusy && !isLate());
  }

  /** Resolves when nothing has happened for a while after all was done, or when the session is over. */
  #nextQuiet(): Promise<void> {
    if (this.#quiet === undefined) this.#look();
    const quiet = new Promise<void>((resolve) => {
      const tell = () => {
        this.#changed.delete(tell);
        resolve();
      };
      this.#changed.add(tell);
    });
    return Promise.race([quiet, this.#over]);
  }

  #finish(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#quiet);
    clearTimeout(this.#drain);
    this.tasks.processEnded(reason);
    this.#parts.input.abandon(this.#failure ?? new AsyncAgentsError("host_unavailable", `No answer: ${reason}.`));
    for (const stream of this.#streams) this.#failure ? stream.fail(this.#failure) : stream.end();
    this.tasks.close();
  }

  #subscribe(): BoundedStream<SessionMessage> {
    const { messages, bytes } = this.#parts.buffer;
    const stream: BoundedStream<SessionMessage> = new BoundedStream<SessionMessage>(messages, {
      bytes,
      describeLoss: (dropped) => ({ type: "messages.dropped", ...dropped }),
      onClosed: () => this.#streams.delete(stream),
    });
    if (!this.#isOver) this.#streams.add(stream);
    else if (this.#failure) stream.fail(this.#failure);
    else stream.end();
    return stream;
  }
}

function wordsFor({ code, signal }: ProcessEnd): string {
  return signal ? `Claude's process was ended by ${signal}` : `Claude's process ended with code ${code ?? "unknown"}`;
}

function frozen(what: string, timeout: number): ClaudeTimeoutError {
  return new ClaudeTimeoutError(what, timeout, "It may still do so: wait longer, or close() the session.");
}
