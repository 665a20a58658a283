/**
 * Child: what our event stream is compared with. Plain `Bun.serve` that sends the same bytes to everybody who is connected, in
 * one loop, when it is told to: no store, no snapshot, no reader that is too slow.
 */
import { answerCalls, sharedNow } from "./child-process.ts";

const readers = new Set<ReadableStreamDefaultController<Uint8Array>>();
const encoder = new TextEncoder();
const HEADERS = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" };

const calls = {
  start(): string {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, development: false, fetch: open });
    return `http://127.0.0.1:${server.port}`;
  },
  /** Gives the time of the call. */
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
