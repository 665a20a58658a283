/** The part of the store suite about remote calls: each is claimed once, answered once, and withdrawn or begun. */
import { expect, test } from "bun:test";
import type { RemoteCall, RemoteCallState } from "../../../store/calls/records.ts";
import type { Store } from "../../../store/store.ts";
import type { StoreBed } from "./store-bed.ts";

const ANY: RemoteCallState[] = ["asked", "claimed", "answered"];
const PATIENCE = 60_000;
/** Longer than the calls of these tests take, and short enough to wait for. */
const SHORT = 1;

export function remoteCallSuite({ fresh, handles }: StoreBed): void {
  const callOf = (id: string, to = "i1", madeBy = "person, depth 0"): RemoteCall => {
    return { id, to, operation: "answer", input: '{"a":1}', madeBy };
  };
  const ask = ({ calls }: Store, id: string, to?: string, patience = PATIENCE, madeBy?: string) =>
    calls.ask(callOf(id, to, madeBy), { now: Date.now(), patience });
  const waiting = async ({ calls }: Store, ...instances: string[]) =>
    (await calls.waitingFor(instances, Date.now())).map(({ id }) => id);

  test("a call is seen by the instance that it names, oldest first, and goes from asked to answered", async () => {
    const store = await fresh();
    await ask(store, "c2");
    await Bun.sleep(2);
    await ask(store, "c1");
    await ask(store, "other", "i2");
    expect(await store.calls.waitingFor(["i1"], Date.now())).toEqual([callOf("c2"), callOf("c1")]);
    expect(await waiting(store, "i2", "i3")).toEqual(["other"]);
    expect(await waiting(store)).toEqual([]);
    expect(await store.calls.answer("c1", '"early"')).toBe(false);
    expect(await store.calls.claim("c1", Date.now())).toBe(true);
    expect(await waiting(store, "i1")).toEqual(["c2"]);
    expect(await store.calls.answer("c1", '{"output":1}')).toBe(true);
    expect(await store.calls.answer("c1", '{"output":2}')).toBe(false);
    expect((await store.calls.progress(["c1", "c2", "none"])).toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
      { id: "c1", state: "answered", answer: '{"output":1}' },
      { id: "c2", state: "asked", answer: null },
    ]);
    expect(await store.calls.progress([])).toEqual([]);
  });

  test("of many who claim and withdraw a call at once, one succeeds", async () => {
    const stores = await handles(4);
    const [first] = stores as [Store];
    for (const id of ["c1", "c2", "c3", "c4", "c5"]) {
      await ask(first, id);
      const claims = stores.map((store) => store.calls.claim(id, Date.now()));
      const withdrawals = stores.map(async (store) => (await store.calls.remove(id, ["asked"])) !== null);
      const done = await Promise.all([...claims, ...withdrawals]);
      expect(done.filter((isDone) => isDone)).toHaveLength(1);
    }
  });

  test("a removed call is not claimed, and not answered; removing says how far it was", async () => {
    const store = await fresh();
    await ask(store, "c1");
    expect(await store.calls.remove("c1", ["claimed"])).toBeNull();
    expect(await store.calls.remove("c1", ["asked"])).toEqual({ id: "c1", state: "asked", answer: null });
    expect(await store.calls.claim("c1", Date.now())).toBe(false);
    await ask(store, "c2");
    await store.calls.claim("c2", Date.now());
    expect(await store.calls.remove("c2", ["asked"])).toBeNull();
    expect(await store.calls.remove("c2", ANY)).toEqual({ id: "c2", state: "claimed", answer: null });
    expect(await store.calls.answer("c2", "1")).toBe(false);
    await ask(store, "c3");
    await store.calls.claim("c3", Date.now());
    await store.calls.answer("c3", "1");
    expect(await store.calls.remove("c3", ANY)).toEqual({ id: "c3", state: "answered", answer: "1" });
    expect(await store.calls.remove("c3", ANY)).toBeNull();
  });

  test("an expired call is not begun, and goes when another is asked", async () => {
    const store = await fresh();
    await ask(store, "old", "i1", SHORT);
    await Bun.sleep(10 * SHORT);
    expect(await waiting(store, "i1")).toEqual([]);
    expect(await store.calls.claim("old", Date.now())).toBe(false);
    expect(await store.calls.progress(["old"])).toHaveLength(1);
    await ask(store, "new");
    expect((await store.calls.progress(["old", "new"])).map(({ id }) => id)).toEqual(["new"]);
  });

  test("only so many calls wait for an instance", async () => {
    const store = await fresh();
    for (let count = 0; count < 200; count++) expect(await ask(store, `c${count}`)).toBe(true);
    expect(await ask(store, "too many")).toBe(false);
    expect(await ask(store, "elsewhere", "i2")).toBe(true);
    expect(await waiting(store, "i1")).toHaveLength(50);
    await store.calls.claim("c7", Date.now());
    expect(await ask(store, "fits")).toBe(true);
  });

  test("above that each caller may have ten, so that one who asks for much keeps nobody else from asking", async () => {
    const store = await fresh();
    for (let count = 0; count < 200; count++) await ask(store, `c${count}`, "i1", PATIENCE, "reader");
    for (let count = 0; count < 10; count++) {
      expect(await ask(store, `answer ${count}`, "i1", PATIENCE, "answerer")).toBe(true);
    }
    expect(await ask(store, "answer 10", "i1", PATIENCE, "answerer")).toBe(false);
    expect(await ask(store, "c200", "i1", PATIENCE, "reader")).toBe(false);
    expect(await ask(store, "first", "i1", PATIENCE, "another")).toBe(true);
  });

  test("callers take turns: who asks first for much does not come first with all of it", async () => {
    const store = await fresh();
    for (let count = 10; count < 70; count++) await ask(store, `c${count}`, "i1", PATIENCE, "reader");
    await Bun.sleep(2);
    await ask(store, "a1", "i1", PATIENCE, "answerer");
    await Bun.sleep(2);
    await ask(store, "a2", "i1", PATIENCE, "answerer");
    const seen = await waiting(store, "i1");
    const first = seen.slice(0, 5).map((id) => id.slice(0, 1));
    expect([seen.length, first.join("")]).toEqual([50, "cacac"]);
    const others = await store.calls.waitingFor(["i1"], Date.now(), ["reader", "nobody"]);
    expect(others.map(({ id }) => id)).toEqual(["a1", "a2"]);
  });

  test("both sides hear of a call and of its answer", async () => {
    const [asker, owner] = (await handles(2)) as [Store, Store];
    const heard = (store: Store, isThere: () => Promise<boolean>) =>
      new Promise<void>((resolve) => {
        const look = async () => {
          if (await isThere()) resolve(stop());
        };
        const stop = store.onChange(() => void look());
      });
    const seen = heard(owner, async () => (await waiting(owner, "i1")).length === 1);
    await ask(asker, "c1");
    await seen;
    const answered = heard(asker, async () => (await asker.calls.progress(["c1"]))[0]?.state === "answered");
    await owner.calls.claim("c1", Date.now());
    await owner.calls.answer("c1", "1");
    await answered;
  });
}
