/**
 * An open Claude session: reads its messages for as long as it lives, whether or not somebody iterates, and feeds them to the
 * TaskManager. Invariant: when the process is gone, for whatever reason, every wait has settled and nothing of it is left.
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

/** How to end a session: at once, or after so many milliseconds at the most, in which its tasks may end. */
export type CloseOptions = { stop: true } | { wait: number };

/** In the stream of messages: this reader was too slow, and lost so many before the next one. */
export interface MessagesDropped {
  type: "messages.dropped";
  count: number;
  /** About how much memory they took. */
  bytes: number;
}

/** What whoever iterates a session gets. */
export type SessionMessage = SdkMessage | MessagesDropped;

/** What a session is made of. */
export interface SessionParts {
  query: SdkQuery;
  input: UserInput;
  child: ClaudeProcess;
  tasks: TaskManager;
  hooks: SubagentHooks;
  /** How many messages, and how many bytes of them, wait for a slow reader. */
  buffer: { messages: number; bytes: number };
}

/** Longer than it takes Claude from a task's end to the turn that it causes. */
const QUIET_MS = 750;
/** How long Claude may take to answer a request of ours, or to end when it is asked to. */
const GRACE_MS = 2_000;
const INTERRUPT_MS = 10_000;
/** What is still on its way from a dead process is here by then. */
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
  /** From the beginning, for the first who iterates. */
  #first: BoundedStream<SessionMessage> | undefined;
  #sessionId: string | undefined;
  #isBusy = false;
  #tellsState = false;
  /** Claude's last word about its state is not known here: it may have nothing left to do. */
  #isUnsure = false;
  #isOver = false;
  #endsByItself = false;
  #closing: Promise<void> | undefined;
  /** From then on its end is our doing, and no failure. */
  #isForced = false;
  #hurry = () => {};
  readonly #hurried = new Promise<void>((resolve) => {
    this.#hurry = resolve;
  });
  #failure: AsyncAgentsError | undefined;
  #isQuiet = false;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #drain: ReturnType<typeof setTimeout> | undefined;

  /** Sessions are made by openClaude. */
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
   * The messages: from the beginning for the first reader, and from now on for another. Leaving the loop ends nothing else. Who
   * does not keep up loses the oldest, and gets a `messages.dropped` in their place.
   */
  [Symbol.asyncIterator](): AsyncIterator<SessionMessage> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#subscribe();
  }

  /**
   * Gives Claude a prompt, at once or after the present turn. Resolves with the result of its turn, however long that takes unless
   * there is a timeout. When the limits are over, the turn goes on: interrupt() stops it. When they are wrong, nothing is sent.
   */
  send(prompt: Prompt, options: WaitOptions = {}): Promise<ResultMessage> {
    const result = this.#send(prompt, options);
    // Whoever does not await the result must not fail by it.
    result.catch(() => {});
    return result;
  }

  /** Gives Claude the only prompt: when all that follows from it is done, the session ends by itself. */
  sendOnly(prompt: Prompt): void {
    this.#endsByItself = true;
    // Whoever reads the messages meets the failure there.
    void this.send(prompt);
  }

  /** Stops the present turn. Background tasks go on. Rejects when Claude does not answer, after 10 seconds by default. */
  async interrupt(options: WaitOptions = {}): Promise<void> {
    const limits = limitsOf(options, INTERRUPT_MS);
    await within(this.query.interrupt(), limits, (timeout) => frozen("Claude did not stop its turn", timeout));
  }

  /**
   * Ends the session and everything that it started. With `wait`, first lets the turn and the background tasks end, for so long at
   * the most; what runs on then, or at once without it, is stopped. `stop` also cuts such a wait short. Never rejects, and takes
   * a few seconds more than `wait` at the most, even where Claude is frozen.
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
    // A wait that is no number is none.
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

  /** Stops the turn, then the tasks. False where Claude does not answer: then it is not asked again. */
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
      for await (const message of this.query) this.#take(message);
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

  #take(message: SdkMessage): void {
    for (const stream of this.#streams) stream.push(message);
    try {
      // First, since it also knows what to do about a message that cannot be read.
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
      // An older CLI says no more than this.
      if (!this.#tellsState) this.#isBusy = false;
    }
  }

  get #isDone(): boolean {
    const waits = (task: Task) => task.isBackground && !task.isAmbient;
    // Where nobody can say, no more input is the right word: Claude ends when it has done what it does.
    const mayBeIdle = !this.#isBusy || this.#isUnsure;
    return mayBeIdle && this.#parts.input.pending === 0 && !this.tasks.list({ live: true }).some(waits);
  }

  /** Something changed: perhaps all is done. A task's end is followed by a turn, so it must stay quiet for a while. */
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

  /** Waits until all is done, then closes the input, and gives a turn that begins even then the time that it takes. */
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

  /** Resolves when nothing has happened for a while after all was done, or when it is over. */
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
      told: (dropped) => ({ type: "messages.dropped", ...dropped }),
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
