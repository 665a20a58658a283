/**
 * Child process: the baseline for our event stream. Plain `Bun.serve` that on request sends the same bytes to every
 * connection in one loop: no store, no snapshot, no handling of slow readers.
 */
import { answerCalls, sharedNow } from "../child-process.ts";

const readers = new Set<ReadableStreamDefaultController<Uint8Array>>();
const encoder = new TextEncoder();
const HEADERS = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" };

const calls = {
  start(): string {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, development: false, fetch: open });
    return `http://127.0.0.1:${server.port}`;
  },
  /** Returns the time of the call. */
  send({ text }: { text: string }): number {
    const at = sharedNow();
    const bytes = encoder.encode(text);
    for (const reader of readers) reader.enqueue(bytes);
    return at;
  },
};

export type BareEventCalls = typeof calls;

function open(): Response {
  let reader: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      reader = controller;
      readers.add(controller);
      controller.enqueue(encoder.encode("event: snapshot\ndata: {}\n\n"));
    },
    cancel: () => {
      readers.delete(reader);
    },
  });
  return new Response(body, { headers: HEADERS });
}

answerCalls(calls);
