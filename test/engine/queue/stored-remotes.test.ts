/** Runs that an earlier version queued with a token in the address of their repository. */
import { expect, test } from "bun:test";
import { PERSON } from "../../../src/engine/launch.ts";
import { Claimer } from "../../../src/engine/queue/claimer.ts";
import { enqueueTask } from "../../../src/engine/queue/enqueue.ts";
import { readFleet, readQueuePlaces } from "../../../src/engine/queue/fleet.ts";
import { say } from "../../../src/hosts/scripted/script.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import type { ClaimedRun } from "../../../src/store/queue/run-queue.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { ended, NEVER, newWorld } from "../engine-bed.ts";

const STORED = "https://ghp_SECRET@example.com/a.git";
const PLAIN = "https://example.com/a.git";

test("are cloned and shown without it, and left to others where that fails", async () => {
  const world = newWorld();
  const side = await world.side();
  const { store } = side;
  const { now, monotonic, after } = world;
  let ids = 0;
  const parts = { store, now, newId: (prefix: string) => `${prefix}_${++ids}`, machine: "m" };
  const queued = (remote: string) => {
    const folder = { directory: "/work", repository: { remote, commit: "c0ffee", path: "" }, bound: null };
    const request = { description: "x", batch: null, host: "scripted", agent: "", folder, choices: {} };
    return enqueueTask(parts, PERSON, { ...request, prompt: world.script(say("done")) });
  };
  const tried: (string | null)[] = [];
  const folderOf = async ({ run }: ClaimedRun) => {
    tried.push(run.remote);
    if (run.remote !== PLAIN) return { directory: "/work", clone: null };
    throw new AsyncAgentsError("repo_unavailable", "no key for it");
  };
  const offer = { id: side.id, name: "here", hosts: ["scripted"], labels: [], machine: "", max: 4, limits: {} };
  const runner = new Claimer({
    now,
    monotonic,
    after,
    store,
    log: { info: () => {}, error: () => {} },
    offer,
    engines: () => [side.engine],
    open: async () => side.engine,
    onEntries: (listener) => side.supervisor.changes.onEntries(listener),
    onEnded: (listener) => side.engine.onEnded(listener),
    folderOf,
    mayAct: () => true,
    pollMs: NEVER,
  });
  runner.start();
  const task = await queued(STORED);
  await eventually(store, async () => (runner.lacks.length > 0 && runner.load === 0 ? true : null));
  await ended(side, await queued("git@example.com:other.git"));
  await runner.stop();
  expect(tried).toEqual([PLAIN, "git@example.com:other.git"]);
  expect(runner.lacks).toEqual([{ kind: "repository", name: PLAIN, reason: "no key for it" }]);

  // As an earlier version tells others.
  const lease = { leaseMs: 60_000, at: now(), limits: {} };
  const [claim] = await store.queue.claim({ ...offer, ...lease, runner: "old", machine: "old", count: 1 });
  expect(await store.queue.release(claim ?? { taskId: "", fence: 0 }, `old: ${STORED} could not be fetched`)).toBe(
    true,
  );
  const lacks = [{ kind: "repository", name: STORED, reason: `${STORED} could not be fetched` } as const];
  const told = { hostname: "far", machine: "far", version: "1", load: 0, startedAt: 1, state: "running" } as const;
  const { name: _name, ...offered } = offer;
  await store.runners.put({ ...offered, ...told, lacks });
  const context = { store, isAlive: () => true };
  const [shown] = await readFleet(context);
  expect(shown?.lacks).toEqual([{ kind: "repository", name: PLAIN, reason: `${PLAIN} could not be fetched` }]);
  const place = (await readQueuePlaces(context, [task])).get(task.id);
  expect(place).toMatchObject({ remote: PLAIN, trouble: `old: ${PLAIN} could not be fetched` });
  expect(place?.waitsFor).toContain(`old: ${PLAIN} could not be fetched`);
});
