import { expect, test } from "bun:test";
import { Client } from "pg";
import { freePort } from "../../../src/process/free-port.ts";
import { connectionSettings } from "../../../src/store/postgres/connection-settings.ts";
import { postgresListener } from "../../../src/store/postgres/listener.ts";
import { commitProxy } from "../commit-proxy.ts";
import { startPostgres } from "../postgres-server.ts";

const connectionString = await startPostgres();

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

test("a listener whose connection died without a word listens again", async () => {
  const proxy = await commitProxy(connectionString);
  const { client: settings } = connectionSettings(proxy.connectionString);
  let listening = Promise.withResolvers<void>();
  // The first call after a connection says that it listens.
  const stop = postgresListener(
    () => new Client(settings),
    "dead",
    () => listening.resolve(),
    {
      checkMs: 200,
      answerMs: 200,
    },
  );
  await listening.promise;
  proxy.deafen();
  const notified = async () => {
    listening = Promise.withResolvers();
    const client = new Client({ connectionString });
    await client.connect();
    await client.query("notify dead");
    await client.end();
    // Sooner than the poll.
    return Promise.race([listening.promise.then(() => true), Bun.sleep(1_000).then(() => false)]);
  };
  while (!(await notified())) {}
  // That may have been the poll, or the connection; these are not.
  expect([await notified(), await notified(), await notified(), await notified()]).toEqual([true, true, true, true]);
  stop();
}, 30_000);
