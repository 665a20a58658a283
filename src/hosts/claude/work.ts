/**
 * One working session: runs its prompts one after the other, each in its own process, which exits before the next
 * starts. Invariant: a session has at most one process, and is idle only once that has exited: then the transcript is
 * complete. Whatever fails on the way, a run ends, every abort resolves, and the next prompt is run. The end of each
 * run is in the ledger before it is reported. Does not know how a process is started.
 */
import { messageOf } from "../../model/errors.ts";
import { interruption } from "../../model/evidence.ts";
import { costBreach } from "../../model/limits.ts";
import { settlesWithin } from "../../process/deadline.ts";
import type { HostEvent, HostStatus, PromptInput } from "../host.ts";
import type { ClaudeLedger, RunEnd } from "./ledger.ts";
import { RunReader } from "./run-reader.ts";
import type { RunningClaude, RunSettings } from "./wire.ts";

/** A process with nothing left to do exits at once; one that hangs is killed. */
const EXIT_MS = 3_000;
/** Time to save its state when closing, without waiting for the work. */
const CLOSE_MS = 300;
/** How long a run may take to end after an interruption. */
const INTERRUPT_MS = 5_000;

interface WorkContext {
  ledger: ClaudeLedger;
  open(settings: RunSettings): Promise<RunningClaude>;
  emit(event: HostEvent): void;
  /** Whether a person's rejection ended the run. */
  consumeRefusal(sessionId: string): boolean;
}

export class ClaudeWork {
  readonly #sessionId: string;
  readonly #context: WorkContext;
  #queue: PromptInput[] = [];
  /** Prompts that were queued when the run before them was aborted. */
  #dropped: PromptInput[] = [];
  #running: RunningClaude | null = null;
  #reader: RunReader | null = null;
  #current: string | null = null;
  #isAborting = false;
  #isClosed = false;
  #runOver = Promise.withResolvers<void>();
  #over: Promise<void> = Promise.resolve();

  constructor(sessionId: string, context: WorkContext) {
    this.#sessionId = sessionId;
    this.#context = context;
  }

  get isWorking(): boolean {
    return this.#current !== null || this.#queue.length > 0;
  }

  /** Queues a prompt. Calls `over` when nothing is left to do. */
  add(input: PromptInput, over: () => void): void {
    const wasWorking = this.isWorking;
    this.#queue.push(input);
    if (!wasWorking)
      this.#over = this.#workOff()
        .catch(() => {})
        .finally(over);
  }

  has(messageId: string): boolean {
    return this.#current === messageId || this.#queue.some((input) => input.messageId === messageId);
  }

  statuses(): [string, HostStatus][] {
    const retry = this.#reader?.retry;
    const own: HostStatus = retry ? { state: "retrying", ...retry } : { state: "busy" };
    const children = [...(this.#reader?.childSessions ?? [])].map((id): [string, HostStatus] => [
      id,
      { state: "busy" },
    ]);
    return [[this.#sessionId, own], ...children];
  }

  /** Ends the run, the agents inside the session, and the queued prompts. */
  async abort(): Promise<void> {
    if (!this.isWorking) return;
    // A finished run keeps its outcome while its process exits.
    this.#isAborting = this.#reader?.isOver !== true;
    this.#dropped.push(...this.#queue.splice(0));
    const timer = setTimeout(() => void this.#running?.ended(0), INTERRUPT_MS);
    void this.#running?.interrupt().catch(() => {});
    await this.#runOver.promise.finally(() => clearTimeout(timer));
  }

  /** Requests the stop, and waits no longer than a run may take to end: a frozen process does not answer. */
  async stopTask(taskId: string): Promise<void> {
    const asked = this.#running?.stopTask(taskId);
    await settlesWithin(Promise.race([asked, this.#runOver.promise]), { timeout: INTERRUPT_MS });
  }

  /** Ends the process without reporting anything, as if this program had died. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue = [];
    await this.#running?.ended(CLOSE_MS);
    await this.#over;
  }

  async #workOff(): Promise<void> {
    for (let input = this.#queue.shift(); input !== undefined; input = this.#queue.shift()) {
      this.#current = input.messageId;
      this.#runOver = Promise.withResolvers<void>();
      try {
        const end = await this.#run(input).catch((thrown) => ({ ...this.#ended(input), error: messageOf(thrown) }));
        if (this.#isClosed) break;
        await this.#tell(end);
        for (const dropped of this.#dropped.splice(0)) await this.#tell(this.#aborted(dropped));
      } finally {
        this.#isAborting = false;
        this.#current = null;
        this.#runOver.resolve();
      }
    }
    if (!this.#isClosed) this.#context.emit({ type: "session.idle", sessionId: this.#sessionId });
  }

  async #run(input: PromptInput): Promise<RunEnd> {
    const { messageId, agent, model, maxCost = null } = input;
    const reader = new RunReader(this.#sessionId, messageId, (event) => {
      if (!this.#isClosed) this.#context.emit(event);
    });
    this.#reader = reader;
    let failure: string | null = null;
    let isNoted = false;
    try {
      const running = await this.#context.open({ sessionId: this.#sessionId, agent, model, maxCost });
      this.#running = running;
      if (this.#isAborting || this.#isClosed) return this.#aborted(input);
      running.send(messageId, input.text);
      for await (const message of running.messages) {
        reader.read(message);
        if (reader.hasStarted && !isNoted) {
          isNoted = true;
          await this.#context.ledger.begun(this.#sessionId, messageId, Date.now());
        }
        if (reader.isOver) running.end();
      }
    } catch (thrown) {
      // After an error result the CLI exits with a code, and the SDK throws: the result says more.
      failure = messageOf(thrown);
    } finally {
      const end = await this.#running?.ended(EXIT_MS);
      if (end?.complaint) failure = `${failure ?? "Claude's process ended"}: ${end.complaint}`;
      // Something else killed it: that says nothing about the work.
      if (end?.signal) failure = interruption(`Claude's process was killed (${end.signal}). Resume the task to go on.`);
      this.#running = null;
      this.#reader = null;
      reader.close();
    }
    return this.#endOf(input, reader, failure);
  }

  async #endOf(input: PromptInput, reader: RunReader, failure: string | null): Promise<RunEnd> {
    const record = await this.#context.ledger.read(this.#sessionId).catch(() => undefined);
    // If the earlier cost cannot be read, count nothing for this run rather than everything.
    const before = record === undefined ? (reader.totalCost ?? 0) : (record?.totalCost ?? 0);
    const totalCost = reader.totalCost ?? before;
    const cost = Math.max(0, totalCost - before);
    if (!this.#isClosed) reader.countCost(cost);
    const { result } = reader;
    const wasRefused = this.#context.consumeRefusal(this.#sessionId);
    const end: RunEnd = { ...this.#aborted(input), cost, totalCost };
    if (this.#isAborting) return end;
    const nothing = { ...this.#ended(input), cost, totalCost };
    if (result?.kind === "answered") return { ...nothing, text: result.text };
    if (result?.kind === "failed") {
      const limit = result.isOverBudget ? (input.maxCost ?? null) : null;
      const { isLimited, resetsAt: until } = reader;
      return {
        ...nothing,
        error: limit === null ? result.error : costBreach(cost, limit),
        ...(isLimited && limit === null && { until }),
      };
    }
    if (result?.kind === "interrupted" && wasRefused) return nothing;
    if (result?.kind === "interrupted") return end;
    return { ...nothing, error: failure ?? "Claude's process ended before the run did" };
  }

  #aborted(input: PromptInput): RunEnd {
    return { ...this.#ended(input), error: "aborted", aborted: true };
  }

  #ended({ messageId }: PromptInput): RunEnd {
    return { messageId, at: Date.now(), text: null, error: null, aborted: false, cost: 0, totalCost: 0 };
  }

  async #tell(end: RunEnd): Promise<void> {
    await this.#context.ledger.ended(this.#sessionId, end);
    if (end.error === null) return;
    const { error, aborted } = end;
    this.#context.emit({ type: "session.failed", sessionId: this.#sessionId, error, aborted });
  }
}
