import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { NO_OTHERS } from "../../src/board/remote-operations.ts";
import { Desk } from "../../src/engine/desk.ts";
import { Overview } from "../../src/engine/watching/overview.ts";
import { say } from "../../src/hosts/scripted/script.ts";
import { startApiServer } from "../../src/http/server.ts";
import { isAlive } from "../../src/process/liveness.ts";
import { ended, launch, newWorld, type World } from "../engine/engine-bed.ts";
import { atEnd, serverRecord, startApi } from "./bed/api-bed.ts";
import { rawRequest } from "./bed/raw-request.ts";

async function occupy(world: World, port: number): Promise<Server | null> {
  const { promise, resolve } = Promise.withResolvers<Server | null>();
  const server = createServer();
  server.on("error", () => resolve(null));
  server.listen(port, "127.0.0.1", () => resolve(server));
  const taken = await promise;
  if (taken) atEnd(world, () => new Promise((done) => taken.close(done)));
  return taken;
}

/** The first of this many consecutive free ports, now occupied by us. */
async function occupyRow(world: World, count: number): Promise<number> {
  for (let first = 21_000 + (process.pid % 1000) * 20; ; first += count) {
    const servers = [];
    for (let port = first; port < first + count; port++) servers.push(await occupy(world, port));
    if (servers.every((server) => server !== null)) return first;
  }
}

const withToken = (token: string) => ({ method: "POST", headers: { authorization: `Bearer ${token}` }, body: "{}" });

/** The port of a server that runs in a Worker until the end of the test. */
async function startInWorker(world: World, port: number): Promise<number> {
  const worker = new Worker(new URL("./bed/api-worker.ts", import.meta.url).href);
  const said = () =>
    new Promise<unknown>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
  atEnd(world, async () => {
    worker.postMessage("stop");
    await said();
    worker.terminate();
  });
  worker.postMessage({ folder: world.directory, port });
  return Number(await said());
}

describe("the port", () => {
  test("is the next free one if the wanted one is in use", async () => {
    const world = newWorld();
    const first = await occupyRow(world, 3);
    const api = await startApi({ world, port: first });
    expect(api.server.port).toBeGreaterThan(first + 2);
    expect(api.server.port).toBeLessThan(first + 10);
    expect(serverRecord(world.directory).port).toBe(api.server.port);
    expect(api.logged).toHaveLength(api.server.port - first);
    expect((await api.client.health()).status).toBe("ok");
  });

  test("is any free one if ten in a row are in use [AT-16.2]", async () => {
    const world = newWorld();
    const first = await occupyRow(world, 10);
    const api = await startApi({ world, port: first });
    expect(api.server.port < first || api.server.port >= first + 10).toBe(true);
    expect((await api.client.health()).status).toBe("ok");
  });

  test("is never shared by two servers of ours, not even with one in a Worker, as in OpenCode's TUI", async () => {
    const { server } = await startApi();
    const [second, third] = [await startApi({ port: server.port }), await startApi({ port: server.port })];
    expect(new Set([server.port, second.server.port, third.server.port]).size).toBe(3);
    const worker = await startInWorker(newWorld(), server.port);
    const other = await startInWorker(newWorld(), worker);
    expect(new Set([server.port, second.server.port, third.server.port, worker, other]).size).toBe(5);
    const besideWorker = await startApi({ port: other });
    expect(besideWorker.server.port).not.toBe(other);
    // Each one answers for itself: a token of another data folder is rejected.
    const ports = [server.port, second.server.port, third.server.port];
    for (const [index, api] of [second, third].entries()) {
      const answers = ports.map((port) => fetch(`http://127.0.0.1:${port}/v1/tasks/none/cancel`, withToken(api.token)));
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      expect(statuses).toEqual(ports.map((_, at) => (at === index + 1 ? 404 : 401)));
    }
  }, 30_000);

  test("does not go beyond the last port number", async () => {
    const world = newWorld();
    await occupy(world, 65_535);
    const api = await startApi({ world, port: 65_535 });
    expect((await api.client.health()).status).toBe("ok");
  });

  test("is open on this machine's own address only", async () => {
    const api = await startApi();
    const others = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    for (const { address, family } of others.filter(({ internal }) => !internal)) {
      const host = family === "IPv6" ? `[${address.split("%")[0]}]` : address;
      await expect(fetch(`http://${host}:${api.server.port}/v1/health`)).rejects.toThrow();
    }
    await expect(fetch(`http://[::1]:${api.server.port}/v1/health`)).rejects.toThrow();
    expect((await fetch(`http://127.0.0.1:${api.server.port}/v1/health`)).status).toBe(200);
  });
});

test("a server that cannot announce itself is not left running", async () => {
  const api = await startApi();
  const { port } = api.server;
  await api.server.stop();
  const file = join(api.world.directory, "file");
  writeFileSync(file, "no folder");
  const log = { info: () => {}, error: () => {} };
  const overview = new Overview(api.store);
  const desk = new Desk({ store: api.store, engines: () => [], isAlive });
  expect(() =>
    startApiServer({ overview, desk, remote: NO_OTHERS, directory: file, log, port, origins: [] }),
  ).toThrow();
  await expect(fetch(`${api.url}/v1/health`)).rejects.toThrow();
});

describe("the shutdown", () => {
  test("lets an answer in progress arrive completely, and accepts no more requests", async () => {
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const api = await startApi({
      side: {
        host: (host) => ({
          async messages(session, page) {
            reached.resolve();
            await gate.promise;
            return host.messages(session, page);
          },
        }),
      },
    });
    const task = await ended(api.side, await launch(api.side, api.world.parent(), api.world.script(say("x"))));
    const slow = api.client.logs(task.id);
    await reached.promise;
    const stopped = api.server.stop();
    await expect(rawRequest(api.server.port, ["GET /v1/health HTTP/1.1", "Host: localhost"])).rejects.toThrow();
    gate.resolve();
    expect((await slow).messages).toHaveLength(2);
    await stopped;
  });

  test("completes even if an answer never does, and can be called twice", async () => {
    const reached = Promise.withResolvers<void>();
    const api = await startApi({
      side: {
        host: () => ({
          messages() {
            reached.resolve();
            return new Promise(() => {});
          },
        }),
      },
    });
    const task = await launch(api.side, api.world.parent(), api.world.script(say("x")));
    const never = api.client.logs(task.id).catch((thrown) => thrown.code);
    await reached.promise;
    await Promise.all([api.server.stop(), api.server.stop()]);
    expect(await never).toBe("host_unavailable");
  });

  test("is announced immediately to clients that look for the server", async () => {
    const api = await startApi();
    api.server.withdraw();
    expect(() => serverRecord(api.world.directory)).toThrow();
    expect((await api.client.health()).status).toBe("ok");
  });
});
