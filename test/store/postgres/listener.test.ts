import { expect, test } from "bun:test";
import { Client } from "pg";
import { freePort } from "../../../src/process/free-port.ts";
import { postgresListener } from "../../../src/store/postgres/listener.ts";

/** Longer than the longest first pause before a reconnection, in ms. */
const AFTER_FIRST_PAUSE = 300;

test("a listener that was stopped while it waited to reconnect does not connect again", async () => {
  const port = await freePort();
  const lost = Promise.withResolvers<void>();
  let connections = 0;
  const connect = () => {
    connections++;
    const client = new Client({ host: "127.0.0.1", port });
    client.once("end", () => lost.resolve());
    return client;
  };
  let changes = 0;
  const stop = postgresListener(connect, "channel", () => changes++);
  await lost.promise;
  stop();
  const before = connections;
  // The timer of a reconnection was set earlier and would fire before this one.
  await Bun.sleep(AFTER_FIRST_PAUSE);
  expect([connections, changes]).toEqual([before, 0]);
});
