/**
 * A proxy in front of a PostgreSQL server that breaks the connection of a chosen commit of a write: before the server
 * gets it, or after the server has answered it. It can also let all connections die without a word, as a firewall does
 * that forgets them. Ended with the test.
 */
import { onTestFinished } from "bun:test";
import { connect, createServer, type Socket } from "node:net";

export interface CommitProxy {
  connectionString: string;
  /** What becomes of the next commit, once. */
  breakNext: "before" | "after" | null;
  /** Where the server is from the next broken commit on: all connections end with that one. */
  moveTo: string | null;
  /** The connections that are open now stay so, and nothing goes through them any more. New ones work. */
  deafen(): void;
  close(): void;
}

export async function commitProxy(connectionString: string): Promise<CommitProxy> {
  let target = new URL(connectionString);
  const sockets = new Set<Socket>();
  let generation = 0;
  const proxy: CommitProxy = {
    connectionString,
    breakNext: null,
    moveTo: null,
    deafen: () => void generation++,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    let isAnswerCut = false;
    const own = generation;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    client.on("data", (data) => {
      if (own !== generation) return;
      // Not that of the order of the feed, which follows a write and is sent together with it.
      const isWrite = data.includes("commit\0") && !data.includes("asyncagents_lock_feed");
      const fate = isWrite ? proxy.breakNext : null;
      if (fate !== null) proxy.breakNext = null;
      if (fate !== null && proxy.moveTo !== null) {
        target = new URL(proxy.moveTo);
        for (const socket of sockets) socket.destroy();
        return;
      }
      if (fate === "before") return end();
      isAnswerCut = fate === "after";
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (own !== generation) return;
      if (isAnswerCut) end();
      else client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => proxy.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  proxy.connectionString = Object.assign(new URL(target), { host: `127.0.0.1:${port}` }).href;
  return proxy;
}
