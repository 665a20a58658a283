/**
 * Holds changes back for one reader that asked for a pace. Of a task's updates in between only the newest is kept; how
 * a task began and ended is never left out. What is released comes in order, in one piece. What is held is bounded.
 */

export interface Chunk {
  seq: number;
  bytes: Uint8Array;
  taskId: string;
  /** A newer change of the same task may take its place. */
  isUpdate: boolean;
}

const MAX_BYTES = 128 * 1024;

export class PacedChanges {
  readonly #everyMs: number;
  readonly #release: (chunks: readonly Chunk[]) => void;
  readonly #held = new Map<number, Chunk>();
  /** The held update of each task. */
  readonly #updates = new Map<string, Chunk>();
  #bytes = 0;
  #releasedAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(everyMs: number, release: (chunks: readonly Chunk[]) => void) {
    this.#everyMs = everyMs;
    this.#release = release;
  }

  add(chunk: Chunk): void {
    this.#forget(this.#updates.get(chunk.taskId));
    if (chunk.isUpdate) this.#updates.set(chunk.taskId, chunk);
    this.#held.set(chunk.seq, chunk);
    this.#bytes += chunk.bytes.byteLength;
    if (this.#bytes > MAX_BYTES) this.#flush();
    else {
      // The first change after a quiet time comes at once.
      const wait = Math.max(0, this.#releasedAt + this.#everyMs - performance.now());
      this.#timer ??= setTimeout(() => this.#flush(), wait);
    }
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#held.clear();
    this.#updates.clear();
    this.#bytes = 0;
  }

  #forget(chunk: Chunk | undefined): void {
    if (chunk === undefined) return;
    this.#updates.delete(chunk.taskId);
    this.#held.delete(chunk.seq);
    this.#bytes -= chunk.bytes.byteLength;
  }

  #flush(): void {
    const chunks = [...this.#held.values()];
    this.stop();
    this.#releasedAt = performance.now();
    this.#release(chunks);
  }
}
