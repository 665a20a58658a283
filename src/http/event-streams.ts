/**
 * The live streams: each begins with a snapshot, then gets every later change once and in order, and a heartbeat on a
 * fixed timer. An event is put into bytes once for all. Who reads too slowly is let go and begins anew with a fresh
 * snapshot: nobody else waits, and no buffer grows. Nothing runs while nobody watches.
 */
import type { Server } from "bun";
import type { BoardChanges } from "../engine/watching/board-changes.ts";
import type { Overview } from "../engine/watching/overview.ts";
import type { TaskChange, TaskChanges } from "../engine/watching/task-changes.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import type { TaskEventType } from "../model/events.ts";
import type { Log } from "../process/log.ts";
import type { TaskEventName } from "../protocol/task-event-names.ts";
import { CORS } from "./reply.ts";
import { Snapshots } from "./snapshot.ts";
import { TEXT_CHARS, wireTask } from "./wire.ts";

export const HEARTBEAT_MS = 30_000;
/** What may wait for one reader; above it, it is let go. */
const BUFFER_BYTES = 1024 * 1024;
/** What is said in one go; a fraction of the buffer. */
const BURST_BYTES = BUFFER_BYTES / 8;
const MAX_READERS = 5000;
/** How long a reader that was let go may take for what is on its way, in seconds. */
const LAST_WORDS_S = 10;

/** What each fact about a task is called on the wire; all others are `task.updated`. */
const NAMES: Partial<Record<TaskEventType, TaskEventName>> = {
  "task.created": "task.created",
  "task.imported": "task.created",
  "run.completed": "task.completed",
  "run.failed": "task.error",
  "run.cancelled": "task.cancelled",
};

const HEADERS = {
  ...CORS,
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

interface Chunk {
  seq: number;
  bytes: Uint8Array;
}

interface Reader {
  controller: ReadableStreamDefaultController<Uint8Array>;
  request: Request;
  /** What it was told last. */
  seq: number;
  /** Bytes of its snapshot: a large one is no sign of a slow reader. */
  allowance: number;
  /** Changes that came while its snapshot was being made; null once it follows live. */
  waiting: Chunk[] | null;
}

export class EventStreams {
  readonly #snapshots: Snapshots;
  readonly #changes: TaskChanges;
  readonly #board: BoardChanges;
  readonly #heartbeatMs: number;
  readonly #readers = new Set<Reader>();
  readonly #encoder = new TextEncoder();
  #server: Server<unknown> | null = null;
  #listening: Promise<void> | null = null;
  #heartbeat: ReturnType<typeof setInterval> | null = null;
  #closed = false;

  constructor(options: { overview: Overview; log: Log; heartbeatMs?: number | undefined }) {
    this.#snapshots = new Snapshots(options.overview);
    this.#changes = options.overview.watch(options.log, (changes) => this.#tell(changes));
    this.#board = options.overview.watchBoard(options.log, () => this.#announce("board.changed"));
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
  }

  get size(): number {
    return this.#readers.size;
  }

  /** The server whose requests these are: it must not cut a quiet stream. */
  attach(server: Server<unknown>): void {
    this.#server = server;
  }

  async open(request: Request): Promise<Response> {
    if (this.#closed || this.#readers.size >= MAX_READERS) {
      throw new AsyncAgentsError(
        "host_unavailable",
        "This server takes no more event streams. Close some, then retry.",
      );
    }
    if (request.method === "HEAD") return new Response(null, { headers: HEADERS });
    this.#server?.timeout(request, 0);
    let reader: Reader | null = null;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader = { controller, request, seq: 0, allowance: 0, waiting: [] };
          this.#readers.add(reader);
        },
        cancel: () => {
          if (reader) this.#drop(reader);
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
    );
    const opened = reader as Reader | null;
    // Who leaves before the answer begins cancels no stream.
    if (opened) request.signal.addEventListener("abort", () => this.#drop(opened), { once: true });
    if (opened) await this.#begin(opened);
    return new Response(body, { headers: HEADERS });
  }

  /** Ends all streams; further ones are refused. */
  close(): void {
    this.#closed = true;
    for (const reader of [...this.#readers]) this.#letGo(reader);
  }

  async #begin(reader: Reader): Promise<void> {
    try {
      this.#listening ??= this.#listen();
      await this.#listening;
      const { seq, json } = await this.#snapshots.read();
      const bytes = this.#bytes("snapshot", seq, json);
      reader.seq = seq;
      this.#send(reader, bytes);
      reader.allowance = bytes.byteLength;
      const waiting = reader.waiting ?? [];
      reader.waiting = null;
      for (const chunk of waiting) this.#sendOnce(reader, chunk);
    } catch (thrown) {
      this.#drop(reader);
      throw thrown;
    }
  }

  async #listen(): Promise<void> {
    try {
      await this.#changes.start();
      await this.#board.start();
      this.#heartbeat = setInterval(() => this.#announce("heartbeat"), this.#heartbeatMs);
      this.#heartbeat.unref();
      // All may have left meanwhile.
      if (this.#readers.size === 0) this.#rest();
    } catch (thrown) {
      this.#rest();
      throw thrown;
    }
  }

  #rest(): void {
    if (this.#heartbeat) clearInterval(this.#heartbeat);
    this.#heartbeat = null;
    this.#listening = null;
    this.#changes.stop();
    this.#board.stop();
  }

  async #tell(changes: readonly TaskChange[]): Promise<void> {
    let told = 0;
    for (const { seq, type, task } of changes) {
      const bytes = this.#bytes(NAMES[type] ?? "task.updated", seq, JSON.stringify(wireTask(task, TEXT_CHARS)));
      for (const reader of this.#readers) {
        if (reader.waiting) reader.waiting.push({ seq, bytes });
        else this.#sendOnce(reader, { seq, bytes });
      }
      told += bytes.byteLength;
      if (told < BURST_BYTES) continue;
      // Many changes at once must not look like a slow reader: what was said gets its chance to leave.
      told = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** What belongs to no task has no place in the feed, and no id. */
  #announce(name: "heartbeat" | "board.changed"): void {
    const data = JSON.stringify({ ts: new Date().toISOString() });
    const bytes = this.#encoder.encode(`event: ${name}\ndata: ${data}\n\n`);
    for (const reader of this.#readers) if (!reader.waiting) this.#send(reader, bytes);
  }

  #bytes(name: string, seq: number, json: string): Uint8Array {
    return this.#encoder.encode(`id: ${seq}\nevent: ${name}\ndata: ${json}\n\n`);
  }

  /** Nothing that its snapshot holds already, and nothing again when the feed was begun anew. */
  #sendOnce(reader: Reader, { seq, bytes }: Chunk): void {
    if (seq <= reader.seq) return;
    reader.seq = seq;
    this.#send(reader, bytes);
  }

  #send(reader: Reader, bytes: Uint8Array): void {
    if (!this.#readers.has(reader)) return;
    try {
      if ((reader.controller.desiredSize ?? 0) <= -reader.allowance) this.#letGo(reader);
      else reader.controller.enqueue(bytes);
    } catch {
      this.#drop(reader);
    }
  }

  /** What is on its way still arrives, for a while; then the reader connects again. */
  #letGo(reader: Reader): void {
    this.#drop(reader);
    try {
      this.#server?.timeout(reader.request, LAST_WORDS_S);
      reader.controller.close();
    } catch {
      // It left by itself in the same moment.
    }
  }

  #drop(reader: Reader): void {
    this.#readers.delete(reader);
    reader.waiting = null;
    // While it begins to listen there is nothing to stop yet; it looks again when it has.
    if (this.#readers.size === 0 && this.#heartbeat) this.#rest();
  }
}
