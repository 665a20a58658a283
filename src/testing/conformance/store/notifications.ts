/** The part of the store suite about notifications: derived once, sent by one at a time, settled by its holder only. */
import { expect, test } from "bun:test";
import { testContent } from "../../../model/notifications/notification.ts";
import type { NewNotification } from "../../../store/notifications/records.ts";
import type { Store } from "../../../store/store.ts";
import { completed, create } from "../../sample-task.ts";
import type { StoreBed } from "./store-bed.ts";

const LEASE = 60_000;
/** Over at once, wherever the clock is. */
const NO_LEASE = 0;

export function notificationSuite({ fresh, handles }: StoreBed): void {
  const row = (seq: number | null, id: string, more: Partial<NewNotification> = {}) => {
    const base = { id, key: `event:${id}`, content: testContent("c", 1), isUrgent: false };
    return { ...base, state: "pending", dueAt: 0, ...more, seq } as const;
  };
  const open = ({ notifications }: Store, seq = 0) => notifications.open("c", { seq, since: 5 });
  const add = ({ notifications }: Store, rows: ReturnType<typeof row>[], seq: number) =>
    notifications.add("c", rows, { seq, now: Date.now() });
  const claim = ({ notifications }: Store, by = "me", leaseMs = LEASE) =>
    notifications.claim({ channel: "c", by, leaseMs, now: Date.now() });
  const states = async ({ notifications }: Store) =>
    Object.fromEntries((await notifications.list({})).map(({ id, state }) => [id, state]));

  test("a channel begins where it is first opened, and only moves forward", async () => {
    const store = await fresh();
    expect(await open(store, 7)).toEqual({ seq: 7, since: 5 });
    await add(store, [], 9);
    await add(store, [], 8);
    expect(await store.notifications.open("c", { seq: 100, since: 100 })).toEqual({ seq: 9, since: 5 });
  });

  test("of many who derive the same, one adds it; what was passed is not added again, nor a key twice", async () => {
    const stores = await handles(3);
    const [store] = stores as [Store];
    await open(store);
    const added = await Promise.all(
      stores.map((each, index) =>
        add(each, [row(1, `a${index}`, { key: "one" }), row(2, `b${index}`, { key: "two" })], 2),
      ),
    );
    expect(added.toSorted()).toEqual([0, 0, 2]);
    await store.notifications.settle("none", 1, { state: "delivered" }, 1);
    expect(await add(store, [row(2, "late", { key: "other" })], 2)).toBe(0);
    expect(await add(store, [row(3, "again", { key: "one" }), row(null, "free", { key: "free" })], 3)).toBe(1);
    expect((await store.notifications.list({})).map(({ key }) => key).toSorted()).toEqual(["free", "one", "two"]);
  });

  test("of many who claim one, one gets it; who lost the claim records nothing", async () => {
    const stores = await handles(4);
    const [store] = stores as [Store];
    await open(store);
    await add(store, [row(1, "a")], 1);
    const claims = await Promise.all(stores.map((each, index) => claim(each, `p${index}`)));
    const [held] = claims.filter((each) => each !== null);
    expect(claims.filter((each) => each !== null)).toHaveLength(1);
    expect(held).toMatchObject({ id: "a", attempts: 1, fence: 1, state: "pending" });
    const soon = { state: "pending", reason: "500", dueAt: 0 } as const;
    expect(await store.notifications.settle("a", 1, soon, 1)).toBe(true);
    const lost = await claim(store, "dying", NO_LEASE);
    const next = await claim(store, "next");
    expect([lost?.fence, next?.fence, next?.reason]).toEqual([2, 3, "500"]);
    expect(await store.notifications.settle("a", 2, { state: "delivered" }, 2)).toBe(false);
    expect(await store.notifications.settle("a", 3, { state: "delivered" }, 3)).toBe(true);
    expect(await claim(store)).toBeNull();
    expect(await store.notifications.get("a")).toMatchObject({ state: "delivered", attempts: 3, reason: null });
  });

  test("what is not due, held, or of another channel is not claimed; the next time is known", async () => {
    const store = await fresh();
    await open(store);
    const later = Date.now() + 3_600_000;
    await add(store, [row(1, "later", { dueAt: later }), row(1, "held", { state: "held", dueAt: later + 5 })], 1);
    expect(await claim(store)).toBeNull();
    expect(await store.notifications.nextDue(["c"])).toBe(later);
    expect(await store.notifications.nextDue(["other"])).toBeNull();
    expect(await store.notifications.nextDue([])).toBeNull();
  });

  test("held ones become a summary in one step, or nothing does; many pending ones only where that is wanted", async () => {
    const store = await fresh();
    await open(store);
    const { notifications } = store;
    await add(store, [row(1, "h1", { state: "held" }), row(1, "h2", { state: "held" }), row(1, "p1"), row(1, "p2")], 1);
    const now = Date.now();
    const held = await notifications.mergeable("c", { now, most: 1 });
    expect(held.map(({ id }) => id)).toEqual(["h1", "h2"]);
    const { seq: _, ...summary } = row(null, "sum");
    expect(await notifications.merge("c", held, summary, now)).toBe(true);
    expect(await notifications.merge("c", held, { ...summary, id: "sum2", key: "sum2" }, now)).toBe(false);
    expect(await states(store)).toEqual({ h1: "merged", h2: "merged", sum: "pending", p1: "pending", p2: "pending" });
    expect(await notifications.mergeable("c", { now, most: null })).toEqual([]);
    expect(await notifications.mergeable("c", { now, most: 3 })).toEqual([]);
    expect(await notifications.mergeable("c", { now, most: 2 })).toHaveLength(3);
    await add(store, [row(2, "h3", { state: "held" })], 2);
    await notifications.release("c", ["h3"]);
    expect((await states(store)).h3).toBe("pending");
  });

  test("what failed can be tried again; what nobody could send expires, except what is being sent", async () => {
    const store = await fresh();
    await open(store);
    const { notifications } = store;
    await add(store, [row(1, "a"), row(1, "b"), row(1, "new", { dueAt: Date.now() })], 1);
    const held = await claim(store);
    const expired = await notifications.expire({ dueBefore: 1_000, now: Date.now(), reason: "nobody could" });
    expect([expired, await notifications.counts()]).toEqual([1, new Map([["c", { pending: 2, held: 0, failed: 1 }]])]);
    const other = held?.id === "a" ? "b" : "a";
    expect(await notifications.get(other)).toMatchObject({ state: "failed", reason: "nobody could" });
    expect((await notifications.list({ state: "failed" })).map(({ id }) => id)).toEqual([other]);
    expect(await notifications.retry(other, 0)).toMatchObject({ state: "pending", attempts: 0 });
    expect(await notifications.retry("none", 0)).toBeNull();
    expect((await claim(store))?.id).toBe(other);
    // Held for quiet hours that ended long ago, for a channel that no process has any more.
    await add(store, [row(2, "quiet", { state: "held" })], 2);
    await notifications.expire({ dueBefore: 1_000, now: Date.now(), reason: "nobody could" });
    expect((await notifications.get("quiet"))?.state).toBe("failed");
  });

  test("they go with their task, and a week after they were settled", async () => {
    const store = await fresh();
    await create(store, "t", { parentSessionId: "", batchId: "own" });
    await create(store, "newest");
    await store.apply("t", completed(10));
    await open(store);
    const content = { ...testContent("c", 1), taskId: "t" };
    await add(store, [row(1, "of t", { content }), row(1, "old")], 1);
    await store.prune({ endedBefore: 5_000, after: null, ids: ["t"], dryRun: false });
    expect(Object.keys(await states(store))).toEqual(["old"]);
    const held = await claim(store);
    await store.notifications.settle("old", held?.fence ?? 0, { state: "delivered" }, Date.now() - 8 * 86_400_000);
    await add(store, [row(2, "new")], 2);
    expect(Object.keys(await states(store))).toEqual(["new"]);
  });

  test("the first key pair for Web Push stays, whoever offers another; subscriptions are known by their address", async () => {
    const stores = await handles(3);
    const [store] = stores as [Store];
    const offered = stores.map((each, index) =>
      each.notifications.push.keys({ publicKey: `public ${index}`, privateKey: `private ${index}` }),
    );
    const [first] = await Promise.all(offered);
    for (const keys of await Promise.all(offered)) expect(keys).toEqual(first as NonNullable<typeof first>);
    const { push } = store.notifications;
    const one = { endpoint: "https://push/1", p256dh: "a", auth: "b", addedBy: "me" };
    expect([await push.subscribe(one, 1), await push.subscribe({ ...one, auth: "c" }, 2)]).toEqual([true, true]);
    expect(await push.subscriptions(2)).toEqual([{ ...one, auth: "c" }]);
    const token = { role: "answer", createdAt: 1, expiresAt: null, lastUsedAt: null, revokedAt: null } as const;
    await store.access.addToken({ ...token, id: "t1", name: "anna" }, "hash 1");
    await store.access.addToken({ ...token, id: "t2", name: "ben", expiresAt: 10 }, "hash 2");
    for (const addedBy of ["anna", "ben"]) await push.subscribe({ ...one, endpoint: `https://${addedBy}`, addedBy }, 3);
    const adders = async (now: number) => (await push.subscriptions(now)).map(({ addedBy }) => addedBy);
    expect([await adders(9), await adders(10)]).toEqual([
      ["me", "anna", "ben"],
      ["me", "anna"],
    ]);
    await store.access.revokeToken("t1", 4);
    expect(await adders(9)).toEqual(["me", "ben"]);
    expect([await push.unsubscribe(one.endpoint), await push.unsubscribe(one.endpoint)]).toEqual([true, false]);
  });
}
