import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { Overview } from "../../src/engine/watching/overview.ts";
import { EventStreams } from "../../src/http/events/event-streams.ts";
import type { Store } from "../../src/store/store.ts";
import { create, newTask } from "../../src/testing/sample-task.ts";
import type { World } from "../engine/engine-bed.ts";
import { type Api, type ApiOptions, failureOf, startApi } from "./bed/api-bed.ts";
import { startChild } from "./bed/api-child.ts";
import { EventReader, snapshotOf } from "./bed/event-reader.ts";
import { rawRequest, stuckReader } from "./bed/raw-request.ts";

async function open(api: { world: World; url: string }): Promise<EventReader> {
  const reader = await EventReader.open(api);
  await reader.next();
  return reader;
}

interface Counted extends Api {
  watchers(): number;
  until(count: number): Promise<void>;
}

/** A server whose reads of the store's changes are counted. */
async function counted(options: ApiOptions = {}): Promise<Counted> {
  let watchers = 0;
  let changed = Promise.withResolvers<void>();
  const count = (by: number) => {
    watchers += by;
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const api = await startApi({
    ...options,
    store: (store) => ({
      ...options.store?.(store),
      onChange(listener) {
        const stop = store.onChange(listener);
        count(1);
        let stopped = false;
        return () => {
          stop();
          if (!stopped) count(-1);
          stopped = true;
        };
      },
    }),
  });
  const until = async (wanted: number) => {
    while (watchers !== wanted) await changed.promise;
  };
  return { ...api, watchers: () => watchers, until };
}

/** Four megabytes of events in few writes. */
async function flood(store: Store, round: number): Promise<void> {
  const directory = "d".repeat(200_000);
  await store.write(async (transaction) => {
    for (let index = 0; index < 10; index++) {
      const id = `flood-${round}-${index}`;
      await transaction.apply(id, { type: "task.created", at: 1000, task: newTask(id, { directory }) });
      await transaction.apply(id, { type: "run.completed", at: 2000, run: 0, result: "x", progress: null });
    }
  });
}

/** The feed of tasks, and the board. */
const WATCHED = 2;

describe("when readers leave", () => {
  test("nothing reads the store any more, and the next reader works", async () => {
    const api = await counted();
    expect(api.watchers()).toBe(0);
    for (let round = 0; round < 3; round++) {
      const readers = await Promise.all([open(api), open(api)]);
      expect(api.watchers()).toBe(WATCHED);
      for (const reader of readers) reader.leave();
      await api.until(0);
    }
    const reader = await open(api);
    await create(api.store, "after");
    expect((await reader.next())?.name).toBe("task.created");
    expect(api.logged).toEqual([]);
  });

  test("before their snapshot is built, they are still forgotten", async () => {
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    let held = true;
    const api = await counted({
      store: (store) => ({
        async agentTotals() {
          reached.resolve();
          if (held) await gate.promise;
          return store.agentTotals();
        },
      }),
    });
    const socket = connect(api.server.port, "127.0.0.1", () =>
      socket.write("GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    );
    await reached.promise;
    expect(api.watchers()).toBe(WATCHED);
    socket.destroy();
    await api.until(0);
    held = false;
    gate.resolve();
    await open(api);
    expect(api.watchers()).toBe(WATCHED);
  });

  test("while the server starts listening, nothing keeps listening", async () => {
    const api = await startApi();
    const gate = Promise.withResolvers<void>();
    let watchers = 0;
    const store: Store = {
      ...api.store,
      async lastSeq() {
        await gate.promise;
        return api.store.lastSeq();
      },
      onChange(listener) {
        const stop = api.store.onChange(listener);
        watchers++;
        return () => {
          stop();
          watchers--;
        };
      },
    };
    const streams = new EventStreams({ overview: new Overview(store), log: { info() {}, error() {} } });
    const leaving = new AbortController();
    const open = (init?: RequestInit) =>
      streams.open({ request: new Request(`${api.url}/v1/events`, init), caller: { token: null } }, { timeout() {} });
    const first = open({ signal: leaving.signal });
    leaving.abort();
    expect(streams.size).toBe(0);
    gate.resolve();
    await first;
    expect([streams.size, watchers]).toEqual([0, 0]);
    const second = await open();
    expect([streams.size, watchers]).toEqual([1, WATCHED]);
    await second.body?.cancel();
    expect([streams.size, watchers]).toEqual([0, 0]);
  });

  test("a HEAD request opens no stream", async () => {
    const api = await counted();
    const answer = await api.ask("/v1/events", { method: "HEAD" });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    await api.client.health();
    expect(api.watchers()).toBe(0);
  });

  test.each(["lastSeq", "version"] as const)(
    "a store that fails at %s gives a clean error, and works again afterwards",
    async (member) => {
      let broken = true;
      const working = async (name: string, read: () => Promise<number>) => {
        if (broken && name === member) throw new Error("disk on fire");
        return read();
      };
      const api = await counted({
        store: (store) => ({
          lastSeq: () => working("lastSeq", store.lastSeq),
          board: { ...store.board, version: () => working("version", store.board.version) },
        }),
      });
      expect(await failureOf(api.ask("/v1/events"))).toMatchObject({ status: 500, code: "internal" });
      expect(api.watchers()).toBe(0);
      broken = false;
      await open(api);
      expect(api.watchers()).toBe(WATCHED);
    },
  );
});

describe("a reader that stops reading", () => {
  test("is disconnected, delays nobody, and starts afresh when it reconnects", async () => {
    const api = await counted();
    await stuckReader(api.world, api.server.port);
    const other = await open(api);
    // More than the sockets can hold plus what may be queued.
    for (let round = 0; round < 4; round++) {
      await flood(api.store, round);
      await other.through(await api.store.lastSeq());
    }
    other.leave();
    // Only the reader that reads was still connected: with it, the last one has gone.
    await api.until(0);
    const again = await open(api);
    const [snapshot] = again.events;
    expect(snapshot && snapshotOf(snapshot)).toMatchObject({ total: 40, truncated: true });
  });

  test("does not delay the shutdown of the server", async () => {
    const api = await startApi();
    await stuckReader(api.world, api.server.port);
    for (let round = 0; round < 3; round++) await flood(api.store, round);
    await api.server.stop();
    await expect(fetch(`${api.url}/v1/health`)).rejects.toThrow();
  });
});

describe("the shutdown of the server", () => {
  test("ends all streams", async () => {
    const api = await startApi();
    const readers = await Promise.all([open(api), open(api)]);
    const ends = readers.map((reader) => reader.next());
    await api.server.stop();
    expect(await Promise.all(ends)).toEqual([null, null]);
  });
});

test("a process whose readers disconnect in every way prints nothing and stays small", async () => {
  const api = await startApi();
  const child = await startChild(api.world, "/other", 20);
  await create(api.store, "one");
  const there = { world: api.world, url: child.url };
  const before = await memory(child);
  const stuck = await Promise.all(Array.from({ length: 10 }, () => stuckReader(api.world, child.port)));
  const reading = await open(there);
  for (let round = 0; round < 4; round++) {
    const passing = await Promise.all(Array.from({ length: 5 }, () => open(there)));
    await flood(api.store, round);
    await reading.through(await api.store.lastSeq());
    for (const [index, reader] of passing.entries()) if (index % 2 === 0) reader.leave();
  }
  for (const [index, socket] of stuck.entries()) {
    if (index % 2 === 0) socket.resetAndDestroy();
    else socket.destroy();
  }
  const cut = await rawRequest(child.port, ["GET /v1/events HTTP/1.0"]);
  expect(cut.status).toBe(403);
  // Ten readers with a megabyte each, and room for the runtime.
  expect((await memory(child)) - before).toBeLessThan(120 * 1024 * 1024);
  expect(await child.end()).toBe("");
}, 30_000);

async function memory(child: { tell(line: string): void; said(): Promise<string> }): Promise<number> {
  child.tell("memory");
  return Number((await child.said()).replace("memory ", ""));
}

test("after tasks were pruned, a new reader gets a snapshot without them", async () => {
  const api = await startApi();
  for (const id of ["old", "new"]) {
    await create(api.store, id, { batchId: id, parentSessionId: "" });
    await api.store.apply(id, { type: "run.completed", at: 2000, run: 0, result: "x", progress: null });
  }
  const idsOf = async () => {
    const first = await (await EventReader.open(api)).next();
    if (first === null) throw new Error("the stream ended");
    return snapshotOf(first).tasks.map(({ id }) => id);
  };
  expect((await idsOf()).sort()).toEqual(["new", "old"]);
  await api.store.prune({ endedBefore: 3000, after: null, dryRun: false });
  expect(await idsOf()).toEqual(["new"]);
  const { code, message } = await failureOf(fetch(`${api.url}/v1/tasks/old`));
  expect(code).toBe("task_not_found");
  expect(message).toContain("pruned");
});

test("readers who missed that tasks ended and were pruned are disconnected, to begin with a new snapshot", async () => {
  let missed = () => {};
  const api = await startApi();
  const overview = new Overview(api.store);
  const watch = overview.watch.bind(overview);
  overview.watch = (context, listener) => {
    missed = listener.missed;
    return watch(context, listener);
  };
  const streams = new EventStreams({ overview, log: { info() {}, error() {} } });
  const request = new Request("http://localhost/v1/events");
  const response = await streams.open({ request, caller: { token: null } }, { timeout() {} });
  expect(streams.size).toBe(1);
  missed();
  expect(streams.size).toBe(0);
  expect(await response.text()).toContain("event: snapshot");
});
