/**
 * What every store promises about instances with leases, and about what may be taken over from whom: nobody writes
 * about a live run or a notice on its way that is not, or no longer, theirs.
 */
import { expect, test } from "bun:test";
import type { Store } from "../../../store/store.ts";
import { sampleInstance } from "../../sample-instance.ts";
import { completed, create, newTask } from "../../sample-task.ts";
import type { StoreBed } from "./store-bed.ts";

const LONG_MS = 600_000;
const REFUSED = { changed: false, reason: "other_owner" } as const;
const failed = { type: "run.failed", at: 2_000, run: 0, error: "interrupted", progress: null } as const;

/** A lease that is over as soon as it is written. */
async function registerDead(store: Store, id: string): Promise<void> {
  await store.addInstance(sampleInstance(id, { machine: "far" }), -1);
}

export function leasesSuite(bed: StoreBed): void {
  test("a lease is given, renewed and judged by the database's clock", async () => {
    const store = await bed.fresh();
    await store.addInstance(sampleInstance("i", { machine: "here" }), LONG_MS);
    await registerDead(store, "dead");
    const [dead, living] = (await store.instances()).toSorted((one, other) => one.id.localeCompare(other.id));
    expect(dead).toMatchObject({ id: "dead", machine: "far" });
    expect(dead?.leaseLeft).toBeLessThanOrEqual(0);
    expect(living?.leaseLeft).toBeGreaterThan(LONG_MS / 2);
    expect(living?.leaseLeft).toBeLessThanOrEqual(LONG_MS);
    expect([await store.beat("i", 2 * LONG_MS), await store.beat("dead", LONG_MS)]).toEqual([true, false]);
    const renewed = (await store.instances()).find(({ id }) => id === "i");
    expect([renewed?.beat, (renewed?.leaseLeft ?? 0) > LONG_MS]).toEqual([1, true]);
  });

  test("an instance is ended by others only once its lease is over", async () => {
    const store = await bed.fresh();
    await store.addInstance(sampleInstance("i"), LONG_MS);
    await store.addInstance(sampleInstance("leaseless"));
    await registerDead(store, "dead");
    const ended = [];
    for (const id of ["i", "leaseless", "dead", "dead"]) ended.push(await store.expireInstance(id));
    expect(ended).toEqual([false, false, true, true]);
    expect((await store.instances()).map(({ id }) => id).toSorted()).toEqual(["i", "leaseless"]);
  });

  test("a live run is taken over only from an owner that is not registered", async () => {
    const store = await bed.fresh();
    await store.addInstance(sampleInstance("one"), LONG_MS);
    await create(store, "a", { owner: "one" });
    const adopted = { type: "task.adopted", at: 2, owner: "two" } as const;
    const expected = { owner: "one", fence: 0, by: "two" };
    for (const event of [adopted, failed]) expect(await store.apply("a", event, expected)).toMatchObject(REFUSED);
    await store.endInstance("one");
    expect(await store.apply("a", adopted, expected)).toMatchObject({
      changed: true,
      task: { owner: "two", fence: 1 },
    });
    const late = { owner: "one", fence: 0, by: "one" };
    const progressed = {
      type: "run.progressed",
      at: 3,
      run: 0,
      progress: (await create(store, "b")).progress,
    } as const;
    for (const event of [failed, progressed, completed(4)]) {
      expect(await store.apply("a", event, late)).toMatchObject(REFUSED);
    }
  });

  test("what an instance wrote before it lost a run does not count after it got the run back", async () => {
    const store = await bed.fresh();
    await create(store, "a", { owner: "one" });
    for (const [owner, fence, by] of [
      ["one", 0, "two"],
      ["two", 1, "one"],
    ] as const) {
      const event = { type: "task.adopted", at: 2, owner: by } as const;
      expect(await store.apply("a", event, { owner, fence, by })).toMatchObject({ changed: true });
    }
    expect(await store.apply("a", failed, { owner: "one", fence: 0, by: "one" })).toMatchObject(REFUSED);
    expect(await store.apply("a", completed(3), { owner: "one", fence: 2, by: "one" })).toMatchObject({
      changed: true,
    });
  });

  test("a launch is closed by its owner, or by others once that is not registered", async () => {
    const store = await bed.fresh();
    await store.addInstance(sampleInstance("one"), LONG_MS);
    const { sessionId: _session, ...task } = newTask("lau");
    const open = () =>
      store.write((transaction) => transaction.openLaunch({ ...task, owner: "one", machine: "", at: 1 }));
    await open();
    expect([await store.closeLaunch("lau", "two"), await store.closeLaunch("lau", "one")]).toEqual([false, true]);
    await open();
    await store.endInstance("one");
    expect([await store.closeLaunch("lau", "two"), await store.closeLaunch("lau", "one")]).toEqual([true, false]);
  });

  test("notices on their way are taken over only from a sender that is not registered, and settled by the last one", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    await store.apply("a", completed(2));
    await store.addInstance(sampleInstance("one"), LONG_MS);
    const [claimed] = await store.claimNotices("parent", { sender: "one", messageId: "m", limit: 10 });
    if (!claimed) throw new Error("nothing was claimed");
    const claim = { sender: "two", from: claimed, counts: true };
    expect(await store.reclaimNotices("m", claim)).toEqual([]);
    await store.endInstance("one");
    const [taken] = await store.reclaimNotices("m", claim);
    expect(taken).toMatchObject({ sender: "two", fence: claimed.fence + 1 });
    expect(await store.reclaimNotices("m", { ...claim, sender: "three" }), "another one was faster").toEqual([]);
    const pending = { state: "pending", reason: "busy", at: 3 } as const;
    expect(await store.settleNotices("m", claimed, pending)).toBe(false);
    expect(await store.settleNotices("m", { ...claimed, sender: "two" }, pending)).toBe(false);
    expect(await store.notices("parent", "sending")).toMatchObject([{ messageId: "m", sender: "two" }]);
    expect(await store.settleNotices("m", taken ?? claimed, { ...pending, state: "delivered" })).toBe(true);
  });
}
