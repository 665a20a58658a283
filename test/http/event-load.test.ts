import { expect, test } from "bun:test";
import { wireTask } from "../../src/http/wire.ts";
import type { TaskEvent } from "../../src/model/events.ts";
import { noProgress } from "../../src/model/progress.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { completed, create, resumed } from "../../src/testing/sample-task.ts";
import { type Api, startApi } from "./bed/api-bed.ts";
import { EventReader, folded, snapshotOf, taskOf } from "./bed/event-reader.ts";

const ROUNDS = 12;
const READERS = 20;

/** A small random number generator: a failure can be reproduced by its seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Lives of tasks, step by step, as an engine writes them: each row is read before the next write. */
async function write(store: Store, name: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const id = `${name}-${round}`;
    await create(store, id, {}, 1000 + round);
    const steps: TaskEvent[] = [
      { type: "run.phased", at: 2000, run: 0, phase: "working", detail: null },
      ...[1, 2, 3].map((toolCalls) => ({
        type: "run.progressed" as const,
        at: 2000,
        run: 0,
        progress: { ...noProgress(2000), toolCalls },
      })),
      round % 3 === 0 ? { type: "run.failed", at: 3000, run: 0, error: "no", progress: null } : completed(3000),
      { type: "task.cleared", at: 4000 },
    ];
    for (const step of steps) await store.apply(id, step);
    if (round % 3 === 0) continue;
    // Without a pause: when a reader hears of one of these, the row has already moved on.
    await store.write(async (transaction) => {
      for (const step of [resumed(5000), completed(6000, 1)]) await transaction.apply(id, step);
    });
  }
}

/** What must hold for a reader wherever it stopped. */
async function check(api: Api, reader: EventReader): Promise<void> {
  const [snapshot, ...changes] = reader.events;
  if (!snapshot) return;
  expect(snapshot.name).toBe("snapshot");
  const ids = changes.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
  if (ids.length > 0) expect(ids[0]).toBeGreaterThan(snapshot.id);
  const feed = await api.store.feed(snapshot.id, 5000);
  const expected = feed.filter(({ seq }) => seq <= (ids.at(-1) ?? 0));
  const inFeed = new Set(feed.map(({ seq }) => seq));
  // What is no longer in the feed is progress that was replaced since.
  expect(changes.filter(({ id }) => !inFeed.has(id)).every(({ name }) => name === "task.updated")).toBe(true);
  expect(ids.filter((id) => inFeed.has(id))).toEqual(expected.map(({ seq }) => seq));
  for (const { seq, taskId } of expected) {
    const change = changes.find(({ id }) => id === seq);
    expect(change && taskOf(change).id).toBe(taskId);
  }
}

test("readers that come and go during writes miss nothing and see nothing twice", async () => {
  const api = await startApi();
  const other = await sqliteStore({ directory: api.world.directory });
  const random = randomOf(42);
  const all: EventReader[] = [];
  let writing = true;
  const restless = async () => {
    while (writing) {
      const reader = await EventReader.open(api);
      all.push(reader);
      const patience = Math.floor(random() * 25);
      for (let read = 0; read <= patience && writing; read++) {
        // A reader that waits for a change that never comes must not delay the end.
        const next = await Promise.race([reader.next(), written]);
        if (next === "written") break;
      }
      reader.leave();
    }
  };
  const written = Promise.all([write(api.store, "here"), write(other, "there"), write(api.store, "also")]).then(
    () => "written" as const,
  );
  const stayed = Array.from({ length: 3 }, async () => {
    const reader = await EventReader.open(api);
    all.push(reader);
    await reader.next();
    return reader;
  });
  const crowd = Array.from({ length: READERS }, restless);
  await written;
  writing = false;
  const last = await api.store.lastSeq();
  const stored = (await api.store.tasks({ limit: 200 })).tasks.map((task) => [task.id, wireTask(task)] as const);
  expect(stored).toHaveLength(3 * ROUNDS);
  for (const reader of await Promise.all(stayed)) {
    await reader.through(last);
    expect(Object.fromEntries(folded(reader.events))).toEqual(Object.fromEntries(stored));
    reader.leave();
  }
  await Promise.all(crowd);
  expect(all.length).toBeGreaterThan(READERS);
  for (const reader of all) await check(api, reader);
  await other.close();
});

test("many readers that connect at once share one snapshot", async () => {
  let reads = 0;
  const api = await startApi({
    store: (store) => ({
      agentTotals() {
        reads++;
        return store.agentTotals();
      },
    }),
  });
  await create(api.store, "one");
  const readers = await Promise.all(Array.from({ length: 50 }, () => EventReader.open(api)));
  const snapshots = await Promise.all(readers.map((reader) => reader.next()));
  expect(new Set(snapshots.map((event) => event?.data)).size).toBe(1);
  expect(snapshots[0] && snapshotOf(snapshots[0]).total).toBe(1);
  expect(reads).toBeLessThan(5);
});

test("a reader that connects while an older snapshot is being built misses nothing", async () => {
  let held = false;
  let asked = Promise.withResolvers<void>();
  let calls: (() => void)[] = [];
  let called = Promise.withResolvers<void>();
  const api = await startApi({
    store: (store) => ({
      async lastSeq() {
        const seq = await store.lastSeq();
        asked.resolve();
        return seq;
      },
      async agentTotals() {
        if (held) {
          const { promise, resolve } = Promise.withResolvers<void>();
          calls.push(resolve);
          called.resolve();
          await promise;
        }
        return store.agentTotals();
      },
    }),
  });
  const witness = await EventReader.open(api);
  await witness.next();
  held = true;
  await create(api.side.store, "t0");
  const early = EventReader.open(api);
  let late = early;
  // The store changes at every read: after five attempts the snapshot is used as it is.
  for (let look = 1; look <= 5; look++) {
    await called.promise;
    called = Promise.withResolvers();
    await create(api.side.store, `t${look}`);
    await witness.through(await api.side.store.lastSeq());
    if (look === 5) {
      held = false;
      asked = Promise.withResolvers();
      late = EventReader.open(api);
      await asked.promise;
      await api.client.health();
    }
    for (const release of calls) release();
    calls = [];
  }
  for (const reader of [await early, await late]) {
    await reader.through(await api.side.store.lastSeq());
    expect([...folded(reader.events).keys()].sort()).toEqual(["t0", "t1", "t2", "t3", "t4", "t5"]);
  }
});
