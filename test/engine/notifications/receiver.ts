/** A receiver of notifications on loopback: keeps what it gets, and answers as it is told. */
import { onTestFinished } from "bun:test";

export interface Received {
  path: string;
  method: string;
  headers: Headers;
  /** As it came. */
  bytes: Buffer;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what arrived
  json: any;
}

type Answer = (request: Received) => Response | Promise<Response>;

export interface Receiver {
  url: string;
  received: Received[];
  /** How the next requests are answered; 200 by default. */
  answer: Answer;
  /** Resolves when that many have arrived. */
  has(count: number): Promise<Received[]>;
}

export function receiver(answer: Answer = () => new Response("ok")): Receiver {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const bytes = Buffer.from(await request.arrayBuffer());
      const text = bytes.toString();
      const isJson = request.headers.get("content-type") === "application/json";
      const { pathname: path } = new URL(request.url);
      const { method, headers } = request;
      const got = { path, method, headers, bytes, text, json: isJson ? JSON.parse(text) : null };
      received.push(got);
      for (const waiter of [...waiting]) waiter();
      return own.answer(got);
    },
  });
  onTestFinished(() => server.stop(true));
  const own: Receiver = {
    url: `http://127.0.0.1:${server.port}`,
    received,
    answer,
    has(count) {
      return new Promise((resolve) => {
        const look = () => {
          if (received.length < count) return;
          waiting.delete(look);
          resolve(received);
        };
        waiting.add(look);
        look();
      });
    },
  };
  return own;
}
