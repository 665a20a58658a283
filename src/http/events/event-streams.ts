/**
 * The live event streams. Each one starts with a snapshot, then gets every later change once and in order, and a
 * heartbeat on a fixed timer. An event is encoded once for all readers. A reader that is too slow is disconnected and
 * reconnects with a fresh snapshot, so nobody else waits and no buffer grows. A reader that asks for a pace gets the
 * changes of a while together (`paced-changes.ts`). Nothing runs while there are no readers.
 */
import type { Server } from "bun";
import type { BoardChanges } from "../../engine/watching/board-changes.ts";
import type { Overview } from "../../engine/watching/overview.ts";
import type { TaskChange, TaskChanges } from "../../engine/watching/task-changes.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { TaskEventType } from "../../model/events.ts";
import { systemClock } from "../../process/clock.ts";
import type { Log } from "../../process/log.ts";
import type { TaskEventName } from "../../protocol/task-event-names.ts";
import type { Caller } from "../access/guard.ts";
import { CORS } from "../reply.ts";
import { TEXT_CHARS, wireTask } from "../wire.ts";
import { type Chunk, PacedChanges } from "./paced-changes.ts";
import { Snapshots } from "./snapshots.ts";

const HEARTBEAT_MS = 30_000;
/** How much may be buffered for one reader before it is disconnected. */
const BUFFER_BYTES = 1024 * 1024;
/** How much is sent at once; a fraction of the buffer. */
const BURST_BYTES = BUFFER_BYTES / 8;
const MAX_READERS = 5000;
/** One token must not take the streams of all others. */
const MAX_READERS_OF_TOKEN = 200;
/** The slowest pace that a reader gets. */
const MAX_EVERY_MS = 60_000;
/** How often the tokens of open streams are checked. */
const CHECK_MS = 2000;
/** How long a disconnected reader may take to read what was already sent, in seconds. */
const LAST_WORDS_S = 10;

/** The name of each task event on the wire; all others are `task.updated`. */
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

/** What streams need of the server that a request came through. */
type TimeoutServer = Pick<Server<undefined>, "timeout">;

interface Reader {
  controller: ReadableStreamDefaultController<Uint8Array>;
  request: Request;
  server: TimeoutServer;
  caller: Caller;
  /** The last change that was sent. */
  seq: number;
  /** The size of its snapshot in bytes: a large snapshot does not mean a slow reader. */
  allowance: number;
  /** Changes that arrived while its snapshot was being made; null once the reader is live. */
  waiting: Chunk[] | null;
  /** Null for every change at once. */
  paced: PacedChanges | null;
}

export interface StreamRequest {
  request: Request;
  caller: Caller;
  /** How often changes are sent at most, in ms; each one at once when absent. */
  everyMs?: number | undefined;
}

export class EventStreams {
  readonly #snapshots: Snapshots;
  readonly #changes: TaskChanges;
  readonly #board: BoardChanges;
  readonly #heartbeatMs: number;
  readonly #readers = new Set<Reader>();
  readonly #encoder = new TextEncoder();
  #listening: Promise<void> | null = null;
  #heartbeat: ReturnType<typeof setInterval> | null = null;
  #check: ReturnType<typeof setInterval> | null = null;
  #closed = false;

  constructor(options: { overview: Overview; log: Log; heartbeatMs?: number | undefined }) {
    this.#snapshots = new Snapshots(options.overview);
    const watching = { log: options.log, after: systemClock.after };
    this.#changes = options.overview.watch(watching, {
      changed: (changes) => this.#tell(changes),
      missed: () => this.#letAllGo(),
    });
    this.#board = options.overview.watchBoard(watching, () => this.#announce("board.changed"));
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
  }

  get size(): number {
    return this.#readers.size;
  }

  /** The server must not time out a quiet stream. */
  async open({ request, caller, everyMs = 0 }: StreamRequest, server: TimeoutServer): Promise<Response> {
    if (this.#closed || this.#readers.size >= MAX_READERS || this.#countOf(caller) >= MAX_READERS_OF_TOKEN) {
      throw new AsyncAgentsError(
        "host_unavailable",
        "This server accepts no more event streams. Close some, then retry.",
      );
    }
    if (request.method === "HEAD") return new Response(null, { headers: HEADERS });
    server.timeout(request, 0);
    let reader: Reader | null = null;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const made: Reader = { controller, request, server, caller, seq: 0, allowance: 0, waiting: [], paced: null };
          if (everyMs > 0)
            made.paced = new PacedChanges(Math.min(everyMs, MAX_EVERY_MS), (chunks) =>
              this.#sendTogether(made, chunks),
            );
          reader = made;
          this.#readers.add(made);
        },
        cancel: () => {
          if (reader) this.#drop(reader);
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
    );
    const opened = reader as Reader | null;
    // A reader that leaves before the response starts does not cancel the stream.
    if (opened) request.signal.addEventListener("abort", () => this.#drop(opened), { once: true });
    if (opened) await this.#begin(opened);
    return new Response(body, { headers: HEADERS });
  }

  /** Ends all streams and rejects new ones. */
  close(): void {
    this.#closed = true;
    this.#letAllGo();
  }

  #letAllGo(): void {
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
      this.#check = setInterval(() => void this.#dismissUnwelcome(), CHECK_MS);
      this.#check.unref();
      // All readers may have left meanwhile.
      if (this.#readers.size === 0) this.#rest();
    } catch (thrown) {
      this.#rest();
      throw thrown;
    }
  }

  #rest(): void {
    if (this.#heartbeat) clearInterval(this.#heartbeat);
    if (this.#check) clearInterval(this.#check);
    this.#heartbeat = null;
    this.#check = null;
    this.#listening = null;
    this.#changes.stop();
    this.#board.stop();
  }

  /** Ends the streams of tokens that were revoked or have expired. One check for all streams of a token. */
  async #dismissUnwelcome(): Promise<void> {
    const byToken = Map.groupBy(this.#readers, ({ caller }) => caller.token?.name ?? null);
    for (const [name, readers] of byToken) {
      if (name === null) continue;
      // A store that does not answer now says nothing about the token.
      const isWelcome = await readers[0]?.caller.isWelcome?.().catch(() => true);
      if (!isWelcome) for (const reader of readers) this.#letGo(reader);
    }
  }

  #countOf({ token }: Caller): number {
    if (token === null) return 0;
    return [...this.#readers].filter(({ caller }) => caller.token?.name === token.name).length;
  }

  async #tell(changes: readonly TaskChange[]): Promise<void> {
    let told = 0;
    for (const { seq, type, task } of changes) {
      const name = NAMES[type] ?? "task.updated";
      const bytes = this.#bytes(name, seq, JSON.stringify(wireTask(task, TEXT_CHARS)));
      const chunk: Chunk = { seq, bytes, taskId: task.id, isUpdate: name === "task.updated" };
      for (const reader of this.#readers) {
        if (reader.waiting) reader.waiting.push(chunk);
        else if (reader.paced) reader.paced.add(chunk);
        else this.#sendOnce(reader, chunk);
      }
      told += bytes.byteLength;
      if (told < BURST_BYTES) continue;
      // A burst of changes must not look like a slow reader: give the data a chance to be sent.
      told = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Sends an event that is not about a task; it has no position in the feed and no id. */
  #announce(name: "heartbeat" | "board.changed"): void {
    const data = JSON.stringify({ ts: new Date().toISOString() });
    const bytes = this.#encoder.encode(`event: ${name}\ndata: ${data}\n\n`);
    for (const reader of this.#readers) if (!reader.waiting) this.#send(reader, bytes);
  }

  #bytes(name: string, seq: number, json: string): Uint8Array {
    return this.#encoder.encode(`id: ${seq}\nevent: ${name}\ndata: ${json}\n\n`);
  }

  /** Skips what the snapshot contains already, and what was sent before the feed was restarted. */
  #sendOnce(reader: Reader, { seq, bytes }: Chunk): void {
    if (seq <= reader.seq) return;
    reader.seq = seq;
    this.#send(reader, bytes);
  }

  /** In one piece: a reader pays for each piece, however small. */
  #sendTogether(reader: Reader, chunks: readonly Chunk[]): void {
    const newer = chunks.filter(({ seq }) => seq > reader.seq);
    reader.seq = newer.at(-1)?.seq ?? reader.seq;
    if (newer.length > 0) this.#send(reader, Buffer.concat(newer.map(({ bytes }) => bytes)));
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

  /** Disconnects a reader; what was already sent may still arrive. */
  #letGo(reader: Reader): void {
    this.#drop(reader);
    try {
      reader.server.timeout(reader.request, LAST_WORDS_S);
      reader.controller.close();
    } catch {
      // The reader left at the same moment.
    }
  }

  #drop(reader: Reader): void {
    this.#readers.delete(reader);
    reader.waiting = null;
    reader.paced?.stop();
    // While `#listen` is starting there is nothing to stop yet; it checks again when it has started.
    if (this.#readers.size === 0 && this.#heartbeat) this.#rest();
  }
}
