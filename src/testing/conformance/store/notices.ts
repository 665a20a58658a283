/**
 * The part of the store suite about outgoing data: notices, the feed and the change signal. See `store-conformance.ts`,
 * which combines the parts.
 */
import { expect, test } from "bun:test";
import type { FeedEntry, Store } from "../../../store/store.ts";
import { eventually } from "../../eventually.ts";
import { completed, create, newTask, resumed } from "../../sample-task.ts";
import { LONG_TEST_TIMEOUT_MS, type StoreBed } from "./store-bed.ts";

export function storeNoticeSuite(bed: StoreBed): void {
  const end = async (store: Store, ids: string[]) => {
    for (const id of ids) await create(store, id);
    for (const id of ids) await store.apply(id, completed(2_000));
  };
  const taken = (notices: { taskId: string }[]) => notices.map((notice) => notice.taskId);

  test("an ended run creates one notice, with the counts of its batch at that moment; resumed counts as live", async () => {
    const store = await bed.fresh();
    await create(store, "another parent's", { parentSessionId: "another" });
    await end(store, ["a", "b"]);
    await store.apply("a", resumed(3_000));
    await create(store, "c");
    await store.apply("c", completed(4_000));
    const counts = (await store.notices("parent", "pending")).map((notice) => [
      notice.taskId,
      notice.run,
      notice.kind,
      `${notice.batchEnded}/${notice.batchTotal} live ${notice.batchLive}`,
    ]);
    expect(counts).toEqual([
      ["a", 0, "ended", "1/2 live 1"],
      ["b", 0, "ended", "2/2 live 0"],
      ["c", 0, "ended", "2/3 live 1"],
    ]);
    expect(await store.parentsWithNotices()).toEqual(["parent"]);
    expect(await store.parentsWithNotices("paren")).toEqual(["parent"]);
    expect(await store.parentsWithNotices("parent")).toEqual([]);
  });

  test("a topic is reported once per run", async () => {
    const store = await bed.fresh();
    await create(store, "a");
    const waiting = { kind: "waiting", requestId: "r1", asks: "permission", text: "May I?" } as const;
    for (const at of [1, 2]) {
      await store.apply("a", { type: "run.phased", at, run: 0, phase: "waiting", detail: waiting });
      await store.apply("a", { type: "run.phased", at, run: 0, phase: "working", detail: null });
    }
    expect((await store.notices("parent", "pending")).map((notice) => notice.topic)).toEqual(["waiting:r1"]);
  });

  test("a notice that waits for its batch is claimed when no task of it is live or being launched", async () => {
    const store = await bed.fresh();
    for (const id of ["a", "b", "c"]) await create(store, id, { wake: "all" });
    await create(store, "other", { batchId: "another batch" });
    const { id: _id, sessionId: _sessionId, owner: _owner, ...fields } = newTask("d");
    const launch = { ...fields, id: "launch", owner: "instance", machine: "", at: 1_500 };
    await store.write((transaction) => transaction.openLaunch(launch));
    const claim = async (messageId: string) =>
      taken(await store.claimNotices("parent", { sender: "s", messageId, limit: 9 }));
    const settle = (messageId: string) =>
      store.settleNotices(messageId, { sender: "s", fence: 1 }, { state: "delivered", reason: null, at: 9_000 });
    await store.apply("a", completed(2_000));
    const detail = { kind: "waiting", requestId: "r1", asks: "question", text: "Which?" } as const;
    await store.apply("b", { type: "run.phased", at: 2_500, run: 0, phase: "waiting", detail });
    await store.apply("other", completed(2_600));
    expect(await claim("m1")).toEqual(["b", "other"]);
    await settle("m1");
    for (const id of ["b", "c"]) await store.apply(id, completed(3_000));
    expect(await claim("m2")).toEqual([]);
    expect(await store.parentsWithNotices()).toEqual(["parent"]);
    await store.closeLaunch("launch");
    expect(await claim("m3")).toEqual(["a", "b", "c"]);
    const [told] = await store.notices("parent", "sending");
    expect(told?.wake).toBe("batch");
  });

  test("of many concurrent claims one gets the group, and nothing more can be claimed until it is settled", async () => {
    const stores = await bed.handles(3);
    const [store] = stores as [Store];
    await end(store, ["a", "b", "c"]);
    const claim = (index: number) => ({ sender: `s${index}`, messageId: `m${index}`, limit: 2 });
    const groups = await Promise.all(
      stores.flatMap((each, index) => [0, 1].map((n) => each.claimNotices("parent", claim(index * 2 + n)))),
    );
    const [group, ...rest] = groups.filter((each) => each.length > 0);
    expect(rest).toEqual([]);
    expect(taken(group ?? [])).toEqual(["a", "b"]);
    expect(await store.notices("parent", "sending")).toEqual(group ?? []);
    expect(await store.claimNotices("parent", claim(7))).toEqual([]);

    const from = group?.[0] ?? { sender: null, fence: 0, messageId: null };
    const messageId = from.messageId ?? "";
    await store.settleNotices(messageId, from, { state: "delivered", reason: null, at: 9 });
    await store.settleNotices(messageId, from, { state: "dropped", reason: "too late", at: 10 });
    const delivered = await store.notices("parent", "delivered");
    expect(delivered.map(({ reason, settledAt, attempts }) => [reason, settledAt, attempts])).toEqual([
      [null, 9, 1],
      [null, 9, 1],
    ]);
    expect(taken(await store.claimNotices("parent", claim(8)))).toEqual(["c"]);
    expect(await store.notices("parent", "delivered"), "a delivered notice stays delivered").toEqual(delivered);
  });

  test("a group that could not be sent is pending again and counts its attempts; one can be dropped for good", async () => {
    const store = await bed.fresh();
    await end(store, ["a"]);
    await store.claimNotices("parent", { sender: "s", messageId: "m1", limit: 10 });
    await store.settleNotices("m1", { sender: "s", fence: 1 }, { state: "pending", reason: "busy", at: 5 });
    expect(await store.notices("parent", "pending")).toMatchObject([
      { messageId: null, sender: null, settledAt: null },
    ]);
    const [again] = await store.claimNotices("parent", { sender: "s", messageId: "m2", limit: 10 });
    expect(again).toMatchObject({ attempts: 2, messageId: "m2", reason: "busy" });
    await store.dropNotices("parent", "gone", 6);
    expect((await store.notices("parent", "sending")).length, "a notice that is being sent is not dropped").toBe(1);
    await store.settleNotices("m2", { sender: "s", fence: 2 }, { state: "pending", reason: null, at: 7 });
    await store.dropNotices("parent", "gone", 8);
    expect(await store.notices("parent", "dropped")).toMatchObject([{ reason: "gone", settledAt: 8 }]);
    expect(await store.parentsWithNotices()).toEqual([]);
    expect(await store.reopenNotices("a")).toBe(1);
    expect(await store.lastNotice("a")).toMatchObject({ state: "pending", attempts: 0, settledAt: null });
    expect([await store.reopenNotices("unknown"), await store.lastNotice("unknown")]).toEqual([0, null]);
  });

  test("a group whose message may have arrived is kept, and one process takes it over", async () => {
    const [store, other] = (await bed.handles(2)) as [Store, Store];
    await end(store, ["a", "b"]);
    await store.claimNotices("parent", { sender: "s1", messageId: "m1", limit: 10 });
    const doubt = { state: "sending", reason: "no answer" } as const;
    await store.settleNotices("m1", { sender: "s1", fence: 1 }, { ...doubt, at: 5, nextTryAt: 9 });
    const open = {
      state: "sending",
      messageId: "m1",
      reason: "no answer",
      nextTryAt: 9,
      settledAt: null,
      sender: null,
    } as const;
    expect(await store.notices("parent", "sending")).toMatchObject([open, open]);
    await end(store, ["c"]);
    expect(await store.claimNotices("parent", { sender: "s2", messageId: "m2", limit: 10 })).toEqual([]);
    const claims = [store, other].map((each, index) =>
      each.reclaimNotices("m1", { sender: `s${index + 2}`, from: { sender: null, fence: 1 }, counts: true }),
    );
    const [won, ...more] = (await Promise.all(claims)).filter((group) => group.length > 0);
    expect(more).toEqual([]);
    expect(won?.map(({ taskId, messageId, attempts }) => [taskId, messageId, attempts])).toEqual([
      ["a", "m1", 2],
      ["b", "m1", 2],
    ]);
    await store.dropNotices("parent", "gone", 10);
    expect(taken(await store.notices("parent", "dropped")), "a notice that is being sent is not dropped").toEqual([
      "c",
    ]);
    const winner = { sender: won?.[0]?.sender ?? null, fence: 2 };
    await store.settleNotices("m1", winner, { ...doubt, at: 11, nextTryAt: 12 });
    await store.dropNotices("parent", "gone", 13);
    expect(taken(await store.notices("parent", "dropped"))).toEqual(["a", "b", "c"]);
  });

  test("notices that failed often are claimed alone and last, or not at all; an attempt may be left uncounted", async () => {
    const store = await bed.fresh();
    await end(store, ["a", "b"]);
    const claim = (messageId: string) => ({ sender: "s", messageId, limit: 10, aloneAfter: 2 });
    const again = async (messageId: string, counts = true) => {
      const group = await store.claimNotices("parent", { ...claim(messageId), counts });
      const [from = { sender: null, fence: 0 }] = group;
      await store.settleNotices(messageId, from, { state: "pending", reason: "no", at: 1, nextTryAt: 2 });
      return group.map(({ taskId, attempts }) => `${taskId}${attempts}`);
    };
    expect([await again("m1"), await again("m2", false), await again("m3")]).toEqual([
      ["a1", "b1"],
      ["a1", "b1"],
      ["a2", "b2"],
    ]);
    expect([await again("m4"), await again("m5"), await again("m6")]).toEqual([["a3"], ["b3"], ["a4"]]);
    await end(store, ["c"]);
    const fresh = await store.claimNotices("parent", { ...claim("m7"), freshOnly: true });
    expect(taken(fresh)).toEqual(["c"]);
    await store.settleNotices("m7", { sender: "s", fence: 1 }, { state: "delivered", reason: null, at: 3 });
    expect(await store.claimNotices("parent", { ...claim("m8"), freshOnly: true })).toEqual([]);
  });
}

export function feedSuite(bed: StoreBed): void {
  test("is read in chunks, in order, from any position", async () => {
    const store = await bed.fresh();
    for (const id of ["a", "b", "c"]) await create(store, id);
    const all = await store.feed(0);
    expect(all.map((entry) => entry.taskId)).toEqual(["a", "b", "c"]);
    expect(await store.feed(all[0]?.seq ?? 0, 1)).toEqual(all.slice(1, 2));
    expect(await store.lastSeq()).toBe(all.at(-1)?.seq ?? 0);
    expect(await store.feed(await store.lastSeq())).toEqual([]);
    const [first, ...rest] = all.filter(({ taskId }) => taskId === all[0]?.taskId);
    const ofFirst = (between: { after: number; before: number }, limit?: number) =>
      store.entriesOf([first?.taskId ?? "", "unknown"], between, limit);
    expect(await ofFirst({ after: 0, before: Number.MAX_SAFE_INTEGER })).toEqual([...(first ? [first] : []), ...rest]);
    expect(await ofFirst({ after: 0, before: Number.MAX_SAFE_INTEGER }, 1)).toEqual(first ? [first] : []);
    expect(await ofFirst({ after: first?.seq ?? 0, before: Number.MAX_SAFE_INTEGER })).toEqual(rest);
    expect(await ofFirst({ after: 0, before: first?.seq ?? 0 })).toEqual([]);
    expect(await store.entriesOf([], { after: 0, before: Number.MAX_SAFE_INTEGER })).toEqual([]);
    // Of one task, by type, the newest first.
    await store.apply("a", { type: "task.adopted", at: 2, owner: "somebody" });
    const own = (await store.feed(0)).filter(({ taskId }) => taskId === "a").map(({ event }) => event);
    expect(own).toHaveLength(2);
    expect(await store.eventsOf("a", ["task.created", "task.adopted"])).toEqual(own.toReversed());
    expect(await store.eventsOf("a", ["task.cleared"])).toEqual([]);
  });

  test(
    "a follower misses nothing and sees nothing out of order while others write",
    async () => {
      const [follower, ...writers] = (await bed.handles(4)) as [Store, ...Store[]];
      const writing = writers.map(async (store, writer) => {
        for (let index = 0; index < 40; index++) await create(store, `w${writer}-${index}`);
      });
      const seen: FeedEntry[] = [];
      await eventually(follower, async () => {
        for (let more: FeedEntry[] | null = null; more?.length !== 0; seen.push(...more)) {
          more = await follower.feed(seen.at(-1)?.seq ?? 0, 7);
        }
        return seen.length >= 120 ? seen : null;
      });
      await Promise.all(writing);
      expect(seen).toEqual(await follower.feed(0));
      expect(seen.map((entry) => entry.seq)).toEqual(seen.map((_, index) => index + (seen[0]?.seq ?? 0)));
      expect(seen.length).toBe(120);
    },
    LONG_TEST_TIMEOUT_MS,
  );

  test("every handle is told of a change until it unsubscribes", async () => {
    const [writer, other] = (await bed.handles(2)) as [Store, Store];
    let late = 0;
    const stop = other.onChange(() => late++);
    stop();
    const heard = Promise.all([writer, other].map((store) => eventually(store, () => store.task("a"))));
    await create(writer, "a");
    expect((await heard).map((task) => task.id)).toEqual(["a", "a"]);
    expect(late).toBe(0);
  });
}
