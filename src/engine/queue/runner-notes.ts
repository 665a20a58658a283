/**
 * Keeps what others see of this runner up to date in the store: what it offers, how much it has to do, what it lacks.
 * Writes with every heartbeat, and soon after something changed. Whether the runner lives, its instance says. What
 * fails here is tried again, and changes nothing else.
 */
import { messageOf } from "../../model/errors.ts";
import type { Clock } from "../../process/clock.ts";
import type { Log } from "../../process/log.ts";
import { SerialQueue } from "../../process/serial-queue.ts";
import type { RunnerRecord } from "../../store/runners/records.ts";
import type { FeedEntry, Store } from "../../store/store.ts";

const BEAT_MS = 10_000;
/** Changes within this time are written together. */
const SETTLE_MS = 2_000;

export interface RunnerNotesContext extends Clock {
  store: Store;
  log: Log;
  /** What to write now. */
  current(): RunnerRecord;
  onEntries(listener: (entries: readonly FeedEntry[]) => void): () => void;
  /** For whoever watches the runner: the store is away, and it is back. Each is said once. */
  say?(line: string): void;
  beatMs?: number;
  settleMs?: number;
}

export class RunnerNotes {
  readonly #context: RunnerNotesContext;
  readonly #writes = new SerialQueue();
  #written = "";
  /** Whether the last write failed. */
  #isAway = false;
  /** Whether the next write is for a change, and comes soon. */
  #isSettling = false;
  /** Cancels the next write. Set from start to stop. */
  #cancel: (() => void) | null = null;
  #stopEntries: (() => void) | null = null;

  constructor(context: RunnerNotesContext) {
    this.#context = context;
  }

  /** Resolves when others can see the runner. */
  async start(): Promise<void> {
    await this.#write(this.#context.current());
    this.#stopEntries = this.#context.onEntries(() => this.heed());
    this.#later(this.#context.beatMs ?? BEAT_MS);
  }

  /** Something may have changed. */
  heed(): void {
    if (this.#cancel === null || this.#isSettling) return;
    if (JSON.stringify(this.#context.current()) === this.#written) return;
    this.#isSettling = true;
    this.#later(this.#context.settleMs ?? SETTLE_MS);
  }

  /** Writes that the runner has ended. Does nothing if it was not started. */
  async stop(): Promise<void> {
    if (this.#cancel === null) return;
    this.#stopEntries?.();
    this.#cancel();
    this.#cancel = null;
    await this.#tryWrite({ ...this.#context.current(), load: 0, state: "ended" });
  }

  #later(ms: number): void {
    this.#cancel?.();
    this.#cancel = this.#context.after(ms, () => void this.#beat(), { background: true });
  }

  async #beat(): Promise<void> {
    this.#isSettling = false;
    await this.#tryWrite(this.#context.current());
    if (this.#cancel !== null && !this.#isSettling) this.#later(this.#context.beatMs ?? BEAT_MS);
  }

  async #tryWrite(record: RunnerRecord): Promise<void> {
    const { log, say } = this.#context;
    try {
      await this.#write(record);
      if (this.#isAway) say?.("The store is back. The runner goes on.");
      this.#isAway = false;
    } catch (thrown) {
      const error = messageOf(thrown);
      log.error("what others see of this runner could not be stored; it is tried again", { error });
      if (!this.#isAway) say?.(`The store does not answer, and the runner claims nothing until it does. ${error}`);
      this.#isAway = true;
    }
  }

  #write(record: RunnerRecord): Promise<void> {
    return this.#writes.run(async () => {
      await this.#context.store.runners.put(record);
      this.#written = JSON.stringify(record);
    });
  }
}
