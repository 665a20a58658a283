/**
 * A TCP proxy on loopback in front of a PostgreSQL server: it delays each direction by half of a given time, as a
 * network does, and counts round trips. Reads no message.
 */
import { connect, createServer, type Socket } from "node:net";

export interface DelayingProxy {
  connectionString: string;
  /** How often a client sent something after it had got an answer, since the start. */
  readonly trips: number;
  close(): void;
}

export async function delayingProxy(connectionString: string, delayMs: number): Promise<DelayingProxy> {
  const target = new URL(connectionString);
  const sockets = new Set<Socket>();
  let trips = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay(true));
      socket.on("error", end).on("close", end);
    }
    let isAnswered = true;
    client.on("data", (data) => {
      if (isAnswered) trips++;
      isAnswered = false;
      later(delayMs, () => upstream.write(data));
    });
    upstream.on("data", (data) =>
      later(delayMs, () => {
        isAnswered = true;
        client.write(data);
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    connectionString: Object.assign(new URL(target), { host: `127.0.0.1:${port}` }).href,
    get trips() {
      return trips;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** In order, because all timers have the same time. */
function later(delayMs: number, work: () => void): void {
  if (delayMs === 0) work();
  else setTimeout(work, delayMs / 2);
}
