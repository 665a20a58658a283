/**
 * One working session: runs its prompts one after the other, each in a process of its own, which is gone before the
 * next starts. Invariant: whatever fails on the way, a run ends, every abort resolves, and the next prompt is run. The
 * end of each run is in the transcript before it is reported.
 */
import { messageOf } from "../../model/errors.ts";
import type { HostEvent, PromptInput } from "../host.ts";
import type { AcpRun } from "./run.ts";
import type { TranscriptFiles } from "./transcript-files.ts";
import type { AcpRunEnd } from "./transcript-lines.ts";

interface WorkContext {
  transcripts: TranscriptFiles;
  /** Reads what it needs anew for each run. */
  run(input: PromptInput): Promise<AcpRun>;
  emit(event: HostEvent): void;
}

export class AcpWork {
  readonly #sessionId: string;
  readonly #context: WorkContext;
  #queue: PromptInput[] = [];
  #current: PromptInput | null = null;
  #run: AcpRun | null = null;
  #isAborting = false;
  #isClosed = false;
  #over: Promise<void> = Promise.resolve();
  #runOver = Promise.withResolvers<void>();

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
    if (wasWorking) return;
    this.#over = this.#workOff()
      .catch(() => {})
      .finally(over);
  }

  /** Ends the run and drops the queued prompts; resolves when the run is over. */
  async abort(): Promise<void> {
    if (!this.isWorking) return;
    const dropped = this.#queue.splice(0);
    this.#isAborting = true;
    const over = this.#runOver.promise;
    await this.#run?.abort();
    await over;
    for (const { messageId } of dropped) await this.#tell(stopped(messageId));
  }

  /** Ends the process without reporting anything, as if this program had died. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue = [];
    await this.#run?.close();
    await this.#over;
  }

  async #workOff(): Promise<void> {
    for (let input = this.#queue.shift(); input !== undefined; input = this.#queue.shift()) {
      this.#current = input;
      this.#runOver = Promise.withResolvers<void>();
      try {
        const end = await this.#perform(input);
        if (this.#isClosed) break;
        await this.#tell(end);
      } finally {
        this.#isAborting = false;
        this.#run = null;
        this.#current = null;
        this.#runOver.resolve();
      }
    }
    await this.#context.transcripts.release(this.#sessionId);
    // A prompt may have come meanwhile, and is at work.
    if (!this.#isClosed && !this.isWorking) this.#context.emit({ type: "session.idle", sessionId: this.#sessionId });
  }

  async #perform(input: PromptInput): Promise<AcpRunEnd> {
    try {
      this.#run = await this.#context.run(input);
      if (this.#isAborting || this.#isClosed) return stopped(input.messageId);
      return await this.#run.perform();
    } catch (thrown) {
      return { ...stopped(input.messageId), error: messageOf(thrown), aborted: false };
    }
  }

  async #tell(end: AcpRunEnd): Promise<void> {
    const { transcripts, emit } = this.#context;
    transcripts.note(this.#sessionId, { type: "ended", ...end });
    await transcripts.settle(this.#sessionId);
    const { error, aborted } = end;
    if (error !== null) emit({ type: "session.failed", sessionId: this.#sessionId, error, aborted });
  }
}

/** A run that was stopped before its agent was started. */
function stopped(messageId: string): AcpRunEnd {
  return {
    messageId,
    at: Date.now(),
    text: null,
    error: "aborted",
    aborted: true,
    refused: false,
    stopReason: null,
    tokens: null,
    cost: 0,
    totalCost: 0,
  };
}
