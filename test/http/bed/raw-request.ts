/** Requests that no HTTP client would send: raw bytes on a socket, and the raw answer. */
import { connect, type Socket } from "node:net";
import type { World } from "../../engine/engine-bed.ts";
import { atEnd } from "./api-bed.ts";

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Sends the head and the body as they are and reads until the server closes. */
export function rawRequest(port: number, lines: readonly string[], body: string | Uint8Array = ""): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const received: Buffer[] = [];
  const socket = connect(port, "127.0.0.1", () => {
    socket.write([...lines, "Connection: close", "", ""].join("\r\n"));
    socket.write(body);
  });
  socket.on("data", (bytes: Buffer) => received.push(bytes));
  socket.on("error", (error) => (received.length > 0 ? resolve(answerOf(received)) : reject(error)));
  socket.on("close", () => resolve(answerOf(received)));
  return promise;
}

function answerOf(received: readonly Buffer[]): RawAnswer {
  const [head = "", ...rest] = Buffer.concat(received).toString("utf8").split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return {
    status: Number(first.split(" ")[1] ?? 0),
    headers: Object.fromEntries(headers),
    body: rest.join("\r\n\r\n"),
  };
}

/** A reader of the event stream that reads nothing, not even the beginning. */
export async function stuckReader(world: World, port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect(port, "127.0.0.1", () => {
    socket.write("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  });
  atEnd(world, () => socket.destroy());
  socket.on("error", reject);
  // The first byte shows that the stream is open.
  socket.once("readable", () => resolve(socket.pause()));
  return promise;
}
