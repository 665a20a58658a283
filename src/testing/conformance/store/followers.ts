/** The part of the store suite about programs that follow what they launched: each end is one notice, told once. */
import { expect, test } from "bun:test";
import { claudeClient, type Follower } from "../../../model/notifications/follower.ts";
import type { Store } from "../../../store/store.ts";
import { completed, create, resumed } from "../../sample-task.ts";
import type { StoreBed } from "./store-bed.ts";

const CLIENT = claudeClient("session");
const follower = (handle: string, fields: Partial<Follower> = {}): Follower => ({
  handle,
  client: CLIENT,
  way: "hook",
  callId: null,
  ...fields,
});
const person = (store: Store, id: string, batchId = `batch of ${id}`) =>
  create(store, id, { parentSessionId: "", batchId });
const claim = (store: Store, messageId: string, at = 1e9) =>
  store.followers.claim(CLIENT, { messageId, at, graceMs: 5, sender: `process of ${messageId}` });
const states = async (store: Store, ...ids: string[]) =>
  Promise.all(ids.map(async (id) => (await store.lastNotice(id))?.state ?? null));

export function followerStoreSuite({ fresh }: StoreBed): void {
  test("an end is one notice, whether its follower comes before it or after it", async () => {
    const store = await fresh();
    for (const id of ["before", "after", "nobody's"]) await person(store, id);
    await store.followers.add(follower("before"), 10);
    for (const id of ["before", "after", "nobody's"]) await store.apply(id, completed(20));
    await store.followers.add(follower("after"), 30);
    await store.followers.add(follower("after", { client: "client:mcp:other" }), 40);
    expect(await states(store, "before", "after", "nobody's")).toEqual(["pending", "pending", null]);
    expect((await store.lastNotice("after"))?.parentSessionId).toBe(CLIENT);
    const first = await claim(store, "m1");
    expect(first.map(({ taskId, attempts, messageId }) => [taskId, attempts, messageId])).toEqual([
      ["before", 1, "m1"],
      ["after", 1, "m1"],
    ]);
    expect(await claim(store, "m2")).toEqual([]);
    expect(await store.followers.told({ messageId: "m1" }, { reason: "read", at: 50 })).toBe(true);
    expect(await store.followers.told({ messageId: "m1" }, { reason: "read", at: 60 })).toBe(false);
    expect(await store.lastNotice("before")).toMatchObject({ state: "delivered", reason: "read", settledAt: 50 });
    expect(await store.followers.open(CLIENT)).toEqual([]);
  });

  test("claims at the same time never have the same end", async () => {
    const store = await fresh();
    const ids = Array.from({ length: 30 }, (_, index) => `t${index}`);
    for (const id of ids) {
      await person(store, id);
      await store.followers.add(follower(id), 10);
    }
    await Promise.all(ids.map((id) => store.apply(id, completed(20))));
    const claims = await Promise.all(["a", "b", "c", "d"].map((name) => claim(store, name)));
    // Some of them may have waited for each other and found nothing.
    for (const name of ["e", "f"]) claims.push(await claim(store, name));
    const told = claims.flat().map(({ taskId }) => taskId);
    expect(told.toSorted()).toEqual(ids.toSorted());
  });

  test("what was claimed and not read is known with who tells it, and is due again once it is released", async () => {
    const store = await fresh();
    await person(store, "t");
    await store.followers.add(follower("t"), 10);
    await store.apply("t", completed(20));
    await claim(store, "m1");
    expect(await store.followers.claimed(CLIENT)).toEqual([{ messageId: "m1", sender: "process of m1" }]);
    expect(await store.followers.claimed(claudeClient("other"))).toEqual([]);
    await store.followers.release("m1", "the program ended");
    expect(await store.lastNotice("t")).toMatchObject({ state: "pending", sender: null, reason: "the program ended" });
    expect(await store.followers.claimed(CLIENT)).toEqual([]);
    await claim(store, "m2");
    await store.followers.release("another", "not this one");
    expect(await states(store, "t")).toEqual(["sending"]);
    await store.followers.release("m2", "a new start");
    // A receipt that comes late is for a message that nobody counts on any more.
    expect(await store.followers.told({ messageId: "m2" }, { reason: "read", at: 30 })).toBe(false);
    expect(await claim(store, "m3")).toMatchObject([{ taskId: "t", attempts: 3 }]);
  });

  test("what a client asks for itself is not for its hooks, until that changes; only the first run is told", async () => {
    const store = await fresh();
    await person(store, "t");
    await store.followers.add(follower("t", { way: "task", callId: "call" }), 10);
    expect(await store.followers.ofCall("call")).toEqual(follower("t", { way: "task", callId: "call" }));
    await store.apply("t", completed(20));
    expect(await claim(store, "m1")).toEqual([]);
    await store.followers.change("t", { way: "hook" });
    expect(await claim(store, "m2", 24)).toEqual([]);
    expect(await claim(store, "m3", 25)).toMatchObject([{ taskId: "t" }]);
    await store.followers.release("m3", "once more");
    // The clock was set back since.
    expect(await claim(store, "m4", 3)).toMatchObject([{ taskId: "t" }]);
    expect(await store.followers.told({ handle: "t" }, { reason: "read", at: 30 })).toBe(true);
    await store.apply("t", resumed(40));
    await store.apply("t", completed(50, 1));
    expect(await claim(store, "m5")).toEqual([]);
  });

  test("an attempt is followed by its id, which is the batch of its task; a notice moves with its client", async () => {
    const store = await fresh();
    await store.followers.add(follower("attempt", { client: "client:mcp:attempt" }), 10);
    await person(store, "t", "attempt");
    await store.apply("t", completed(20));
    expect(await claim(store, "m1")).toEqual([]);
    await store.followers.change("attempt", { client: CLIENT });
    expect(await store.followers.open(CLIENT)).toMatchObject([{ handle: "attempt" }]);
    expect(await claim(store, "m2")).toMatchObject([{ taskId: "t", parentSessionId: CLIENT }]);
  });

  test("a later run is told if it is followed itself, whether its follower comes before its end or after it", async () => {
    const store = await fresh();
    await person(store, "t", "attempt");
    await store.followers.add(follower("attempt"), 10);
    await store.apply("t", completed(20));
    await store.apply("t", resumed(30));
    await store.followers.add(follower("attempt.1", { way: "task" }), 35);
    await store.apply("t", completed(40, 1));
    await store.apply("t", resumed(50));
    await store.apply("t", completed(60, 2));
    expect(await claim(store, "m1")).toMatchObject([{ taskId: "t", run: 0 }]);
    await store.followers.change("attempt.1", { way: "hook" });
    expect(await claim(store, "m2")).toMatchObject([{ taskId: "t", run: 1 }]);
    await store.followers.add(follower("t.2"), 70);
    expect(await claim(store, "m3")).toMatchObject([{ taskId: "t", run: 2 }]);
    expect(await store.followers.told({ handle: "attempt.1" }, { reason: "read", at: 80 })).toBe(true);
    expect((await store.followers.open(CLIENT)).map(({ handle }) => handle).toSorted()).toEqual(["attempt", "t.2"]);
    for (const handle of ["attempt", "t.2"]) await store.followers.told({ handle }, { reason: "read", at: 80 });
    await store.prune({ endedBefore: 1e9, after: null, dryRun: false, ids: ["t"] });
    for (const handle of ["attempt", "attempt.1", "t.2"]) expect(await store.followers.get(handle)).toBeNull();
  });

  test("what nobody asked for in a long time is dropped with the reason, and keeps its task no longer", async () => {
    const store = await fresh();
    for (const id of ["old", "new"]) {
      await person(store, id);
      await store.followers.add(follower(id), 10);
    }
    await create(store, "child");
    await store.apply("old", completed(20));
    await store.apply("child", completed(20));
    await store.apply("new", completed(100));
    expect(await store.followers.dropOld(50, { reason: "not asked", at: 200 })).toBe(1);
    expect(await states(store, "old", "new", "child")).toEqual(["dropped", "pending", "pending"]);
    const { removed } = await store.prune({ endedBefore: 1e9, after: null, dryRun: false });
    expect(removed).toMatchObject({ tasks: 1, followers: 1 });
    expect(await store.followers.get("old")).toBeNull();
  });
}
