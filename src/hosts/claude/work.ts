/**
 * One session at work: its prompts one after the other, each in a process of its own that has ended before the next begins.
 * Invariant: at most one process for a session, and the session is idle only when it has ended: then the transcript is whole.
 * Whatever fails on the way, a run ends, whoever aborts it is answered, and the next prompt is worked off.
 * How each run ended is in the ledger before anybody is told. Does not know how a process is started.
 */
import { messageOf } from "../../model/errors.ts";
import { interruption } from "../../model/evidence.ts";
import { costBreach } from "../../model/limits.ts";
import type { HostEvent, HostStatus, PromptInput } from "../host.ts";
import type { ClaudeLedger, RunEnd } from "./ledger.ts";
import { RunReader } from "./reader.ts";
import type { RunningClaude, RunSettings } from "./wire.ts";

/** A process that has nothing left to do ends at once; one that hangs is ended. */
const EXIT_MS = 3_000;
/** Time to write down what it did; it is not waited for. */
const CLOSE_MS = 300;
/** So long may a run take to end after an interruption. */
const INTERRUPT_MS = 5_000;

export interface WorkSurroundings {
  ledger: ClaudeLedger;
  open(settings: RunSettings): Promise<RunningClaude>;
  emit(event: HostEvent): void;
  /** Whether a person's refusal ended the run. */
  takeRefusal(sessionId: string): boolean;
}

export class ClaudeWork {
  readonly #sessionId: string;
  readonly #around: WorkSurroundings;
  #queue: PromptInput[] = [];
  /** What waited when the run before it was aborted. */
  #dropped: PromptInput[] = [];
  #running: RunningClaude | null = null;
  #reader: RunReader | null = null;
  #current: string | null = null;
  #isAborting = false;
  #isClosed = false;
  #runOver = Promise.withResolvers<void>();
  #over: Promise<void> = Promise.resolve();

  constructor(sessionId: string, around: WorkSurroundings) {
    this.#sessionId = sessionId;
    this.#around = around;
  }

  get isWorking(): boolean {
    return this.#current !== null || this.#queue.length > 0;
  }

  /** Works off the prompt after those that it has. `over` is called when there was nothing left. */
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
    const below = [...(this.#reader?.below ?? [])].map((id): [string, HostStatus] => [id, { state: "busy" }]);
    return [[this.#sessionId, own], ...below];
  }

  /** Ends the run, the agents inside the session, and what waits behind it. */
  async abort(): Promise<void> {
    if (!this.isWorking) return;
    // A run that is over stays what it is, while its process is on its way out.
    this.#isAborting = this.#reader?.isOver !== true;
    this.#dropped.push(...this.#queue.splice(0));
    const timer = setTimeout(() => void this.#running?.ended(0), INTERRUPT_MS);
    void this.#running?.interrupt().catch(() => {});
    await this.#runOver.promise.finally(() => clearTimeout(timer));
  }

  /** Asks for it, and waits no longer than a run may take to end: a frozen process does not answer. */
  async stopTask(taskId: string): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, INTERRUPT_MS);
    });
    const asked = this.#running?.stopTask(taskId).catch(() => {});
    await Promise.race([asked, this.#runOver.promise, limit]).finally(() => clearTimeout(timer));
  }

  /** Ends the process and says nothing more: as if this program had died. */
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
    if (!this.#isClosed) this.#around.emit({ type: "session.idle", sessionId: this.#sessionId });
  }

  async #run(input: PromptInput): Promise<RunEnd> {
    const { messageId, agent, model, maxCost = null } = input;
    const reader = new RunReader(this.#sessionId, messageId, (event) => {
      if (!this.#isClosed) this.#around.emit(event);
    });
    this.#reader = reader;
    let failure: string | null = null;
    let isNoted = false;
    try {
      const running = await this.#around.open({ sessionId: this.#sessionId, agent, model, maxCost });
      this.#running = running;
      if (this.#isAborting || this.#isClosed) return this.#aborted(input);
      running.send(messageId, input.text);
      for await (const message of running.messages) {
        reader.take(message);
        if (reader.isTaken && !isNoted) {
          isNoted = true;
          await this.#around.ledger.begun(this.#sessionId, messageId, Date.now());
        }
        if (reader.isOver) running.end();
      }
    } catch (thrown) {
      // After an error result the CLI ends with a code that the SDK throws: the result says more.
      failure = messageOf(thrown);
    } finally {
      const end = await this.#running?.ended(EXIT_MS);
      if (end?.complaint) failure = `${failure ?? "Claude's process ended"}: ${end.complaint}`;
      // Somebody else's doing: what was asked of it has nothing to do with that.
      if (end?.signal) failure = interruption(`Claude's process was killed (${end.signal}). Resume the task to go on.`);
      this.#running = null;
      this.#reader = null;
      reader.close();
    }
    return this.#endOf(input, reader, failure);
  }

  async #endOf(input: PromptInput, reader: RunReader, failure: string | null): Promise<RunEnd> {
    const record = await this.#around.ledger.read(this.#sessionId).catch(() => undefined);
    // Where nobody can read what it cost before, the run counts nothing rather than everything.
    const before = record === undefined ? (reader.totalCost ?? 0) : (record?.totalCost ?? 0);
    const totalCost = reader.totalCost ?? before;
    const cost = Math.max(0, totalCost - before);
    if (!this.#isClosed) reader.countCost(cost);
    const { result } = reader;
    const wasRefused = this.#around.takeRefusal(this.#sessionId);
    const end: RunEnd = { ...this.#aborted(input), cost, totalCost };
    if (this.#isAborting) return end;
    const nothing = { ...this.#ended(input), cost, totalCost };
    if (result?.kind === "answered") return { ...nothing, text: result.text };
    if (result?.kind === "failed") {
      const limit = result.isOverBudget ? (input.maxCost ?? null) : null;
      return { ...nothing, error: limit === null ? result.error : costBreach(cost, limit) };
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
    await this.#around.ledger.ended(this.#sessionId, end);
    if (end.error === null) return;
    const { error, aborted } = end;
    this.#around.emit({ type: "session.failed", sessionId: this.#sessionId, error, aborted });
  }
}
