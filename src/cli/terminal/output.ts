/**
 * Writes what a command prints to stdout and stderr, in the order it was printed, and knows when all of it is
 * written. It writes to the file descriptors directly: the runtime's streams report data as flushed before a slow
 * reader has read it, and drop the rest when the process exits. A failed stream accepts no more; the caller decides
 * what a failure means.
 */
import { write } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

export type StreamName = "stdout" | "stderr";

const DESCRIPTORS: Readonly<Record<StreamName, number>> = { stdout: 1, stderr: 2 };
/** The retry delay for a full pipe that someone set to non-blocking. */
const RETRY_MS = 5;

interface Piece {
  stream: StreamName;
  text: string;
}

export class Output {
  readonly #onFailure: (stream: StreamName, failure: NodeJS.ErrnoException) => void;
  readonly #failures = new Map<StreamName, NodeJS.ErrnoException>();
  #waiting: Piece[] = [];
  #writing: Promise<void> | null = null;

  constructor(onFailure: (stream: StreamName, failure: NodeJS.ErrnoException) => void) {
    this.#onFailure = onFailure;
  }

  write(stream: StreamName, text: string): void {
    if (text === "" || this.#failures.has(stream)) return;
    const last = this.#waiting.at(-1);
    if (last?.stream === stream) last.text += text;
    else this.#waiting.push({ stream, text });
    this.#writing ??= this.#drain();
  }

  failureOf(stream: StreamName): NodeJS.ErrnoException | null {
    return this.#failures.get(stream) ?? null;
  }

  /** Resolves when everything printed is written, or cannot be. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async #drain(): Promise<void> {
    // What is printed together is written together.
    await null;
    for (let piece = this.#waiting.shift(); piece; piece = this.#waiting.shift()) await this.#put(piece);
    this.#writing = null;
  }

  async #put({ stream, text }: Piece): Promise<void> {
    if (this.#failures.has(stream)) return;
    const bytes = Buffer.from(text);
    try {
      for (let done = 0; done < bytes.length; ) done += await writeSome(DESCRIPTORS[stream], bytes, done);
    } catch (thrown) {
      const failure = thrown as NodeJS.ErrnoException;
      this.#failures.set(stream, failure);
      this.#onFailure(stream, failure);
    }
  }
}

async function writeSome(descriptor: number, bytes: Buffer, from: number): Promise<number> {
  for (;;) {
    const result = await new Promise<number | NodeJS.ErrnoException>((resolve) =>
      write(descriptor, bytes, from, bytes.length - from, null, (failure, count) => resolve(failure ?? count)),
    );
    if (typeof result === "number") return result;
    if (result.code !== "EAGAIN" && result.code !== "EINTR") throw result;
    await pause(RETRY_MS);
  }
}
