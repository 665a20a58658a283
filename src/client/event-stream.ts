/**
 * The event stream as an async iterable: parses server-sent events from a fetch, reconnects with growing pauses, and
 * treats more than two missed heartbeats as a lost connection. Each connection starts with a fresh snapshot.
 */
import { AsyncAgentsError, type ErrorCode, messageOf } from "../model/errors.ts";
import type { TaskSnapshot } from "../protocol/events.ts";
import { TASK_EVENT_NAMES, type TaskEventName } from "../protocol/task-event-names.ts";
import type { BackgroundTask } from "../protocol/tasks.ts";
import { failureOf } from "./failure.ts";
import { pause } from "./pause.ts";

export type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

const TASK_EVENTS: ReadonlySet<string> = new Set(TASK_EVENT_NAMES);

export type StreamEvent =
  | { type: "snapshot"; id: string; snapshot: TaskSnapshot }
  | { type: TaskEventName; id: string; task: BackgroundTask }
  | { type: "heartbeat"; ts: string }
  /** Something on the board changed: read again what you show. */
  | { type: "board.changed"; ts: string }
  /** Made by the client: the connection was lost for this reason, and the next attempt is after `waitMs`. */
  | { type: "reconnecting"; attempt: number; waitMs: number; reason: string; code: ErrorCode | null };

export interface StreamOptions {
  signal?: AbortSignal;
  /**
   * Changes come at most this often, together, and of the updates of a task in between only the newest; each one at
   * once when absent.
   */
  everyMs?: number;
  /** The longest pause before a reconnection attempt; 3 s by default. */
  maxWaitMs?: number;
  /** Without a byte for this long, the connection counts as lost; 75 s by default. */
  silenceMs?: number;
}

const FIRST_WAIT_MS = 250;
/** Far more than the largest snapshot: a server that sends more without the end of an event is not ours. */
const MAX_BUFFER = 16 * 1024 * 1024;

export async function* streamEvents(
  fetcher: Fetch,
  url: string,
  options: StreamOptions,
): AsyncGenerator<StreamEvent, void> {
  const { signal, maxWaitMs = 3_000, silenceMs = 75_000 } = options;
  for (let attempt = 0; !signal?.aborted; ) {
    let failure: unknown = new Error("The server closed the stream.");
    try {
      for await (const event of connection(fetcher, url, silenceMs, signal)) {
        attempt = 0;
        yield event;
      }
    } catch (thrown) {
      failure = thrown;
    }
    if (signal?.aborted) return;
    attempt++;
    const waitMs = Math.min(maxWaitMs, FIRST_WAIT_MS * 2 ** Math.min(attempt - 1, 10));
    const code = AsyncAgentsError.isInstance(failure) ? failure.code : null;
    yield { type: "reconnecting", attempt, waitMs, reason: messageOf(failure), code };
    await pause(waitMs, signal);
  }
}

async function* connection(
  fetcher: Fetch,
  url: string,
  silenceMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent, void> {
  const silence = new AbortController();
  const hangUp = () => silence.abort();
  signal?.addEventListener("abort", hangUp);
  let timer = setTimeout(hangUp, silenceMs);
  try {
    const response = await fetcher(url, { headers: { accept: "text/event-stream" }, signal: silence.signal });
    if (!response.ok || !response.body) throw await failureOf(response);
    const reader = response.body.getReader();
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(hangUp, silenceMs);
      yield* parser.parse(value);
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", hangUp);
    silence.abort();
  }
}

/** Splits bytes into events; unknown events are skipped. */
export class EventParser {
  readonly #decoder = new TextDecoder();
  #rest = "";

  *parse(bytes: Uint8Array): Generator<StreamEvent, void> {
    const blocks = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    if (this.#rest.length > MAX_BUFFER) throw new Error("An event of the stream has no end.");
    for (const block of blocks) {
      const event = eventOf(block);
      if (event) yield event;
    }
  }
}

function eventOf(block: string): StreamEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""));
  }
  const type = fields.get("event") ?? "";
  const data = fields.get("data");
  if (data === undefined) return null;
  const id = fields.get("id") ?? "";
  if (type === "snapshot") return { type, id, snapshot: JSON.parse(data) };
  if (type === "heartbeat" || type === "board.changed") return { type, ts: JSON.parse(data).ts };
  return TASK_EVENTS.has(type) ? { type: type as TaskEventName, id, task: JSON.parse(data) } : null;
}
