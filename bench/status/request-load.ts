/**
 * A load of GET requests over a few persistent connections, so cheap that only the server is measured: answers are
 * counted by length and not parsed. A connection sends its next request when its last answer is complete.
 */
import type { Socket } from "bun";
import { bounded } from "../../src/testing/recorder.ts";

/** The number of concurrent requests: enough that the server never waits for us. */
const CONNECTIONS = 4;
const PATIENCE_MS = 120_000;
const HEAD_END = "\r\n\r\n";

interface Connection {
  socket: Socket<Connection> | null;
  /** Remaining bytes of the answer; null until its head has been read. */
  left: number | null;
  head: string;
  answered: () => void;
  failed: (problem: Error) => void;
}

export interface Load {
  url: string;
  path: string;
  /** Sent with each request if present: without it, our server asks the kernel who the caller is. */
  token?: string;
  /** Called before each request. */
  before(): void;
}

/**
 * Sends this many requests in total and returns the rate per second. Connections are opened before the clock starts.
 */
export async function requestRate({ url, path, token, before }: Load, count: number): Promise<number> {
  const { hostname, port, host } = new URL(url);
  const authorization = token === undefined ? "" : `Authorization: Bearer ${token}\r\n`;
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\n`);
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(hostname, Number(port))));
  let left = count;
  const drive = (connection: Connection) =>
    new Promise<void>((resolve, reject) => {
      const next = () => {
        if (left-- <= 0) return resolve();
        before();
        connection.socket?.write(request);
      };
      Object.assign(connection, { answered: next, failed: reject });
      next();
    });
  const began = performance.now();
  try {
    await bounded(Promise.all(connections.map(drive)), PATIENCE_MS, () => `${left} of ${count} answers of ${path}.`);
    return (count / (performance.now() - began)) * 1000;
  } finally {
    for (const { socket } of connections) socket?.end();
  }
}

async function connect(hostname: string, port: number): Promise<Connection> {
  const connection: Connection = { socket: null, left: null, head: "", answered() {}, failed() {} };
  connection.socket = await Bun.connect<Connection>({
    hostname,
    port,
    data: connection,
    socket: {
      data: (_, bytes) => take(connection, bytes),
      close: () => connection.failed(new Error("The server closed a connection.")),
      error: (_, error) => connection.failed(error),
    },
  });
  return connection;
}

function take(connection: Connection, bytes: Buffer): void {
  let arrived = bytes.length;
  if (connection.left === null) {
    const inHead = connection.head.length;
    connection.head += bytes.toString("latin1", 0, 2_000);
    const end = connection.head.indexOf(HEAD_END);
    if (end === -1) return;
    const length = answerLength(connection.head.slice(0, end));
    if (length === null) {
      connection.failed(new Error(`Not the wanted answer: ${connection.head.slice(0, end)}`));
      return;
    }
    connection.left = length;
    arrived -= end + HEAD_END.length - inHead;
    connection.head = "";
  }
  connection.left -= arrived;
  if (connection.left > 0) return;
  connection.left = null;
  connection.answered();
}

/** The body length of a successful answer; null for any other. */
export function answerLength(head: string): number | null {
  const length = /^content-length: (\d+)\r?$/im.exec(head)?.[1];
  return head.startsWith("HTTP/1.1 200 ") && length !== undefined ? Number(length) : null;
}
