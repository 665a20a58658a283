/**
 * The part of the store suite about budgets: what is reserved follows from live tasks, what is spent from their
 * progress, and neither is counted twice or lost, however many processes write at once.
 */
import { expect, test } from "bun:test";
import { type Budget, type NewBudgets, NO_LIMITS } from "../../../model/budgets/budget.ts";
import type { TaskEvent } from "../../../model/events.ts";
import { noProgress } from "../../../model/progress.ts";
import type { Store } from "../../../store/store.ts";
import { completed, create, resumed } from "../../sample-task.ts";
import { LONG_TEST_TIMEOUT_MS, type StoreBed } from "./store-bed.ts";

const dollars = (cost: number) => ({ ...NO_LIMITS, cost });
const SESSION = "session:parent";
const PRUNE = { endedBefore: 1_000_000, after: null, dryRun: false };

const progressed = (cost: number, tokens = 10, run = 0): TaskEvent => ({
  type: "run.progressed",
  at: 20,
  run,
  progress: { ...noProgress(20), cost, tokens: { ...noProgress(0).tokens, input: tokens } },
});

const failed = (cost: number | null, run = 0): TaskEvent => {
  const counted = cost === null ? null : { ...noProgress(30), cost };
  return { type: "run.failed", at: 30, run, error: "broken", progress: counted };
};

async function budget(store: Store, id = SESSION): Promise<Budget> {
  const found = await store.budgets.get(id);
  if (found === null) throw new Error(`no budget ${id}`);
  return found;
}

const launch = (store: Store, id: string, budgets: NewBudgets = {}, more = {}) =>
  create(store, id, { ...more, budgets });

export function budgetStoreSuite({ fresh, handles }: StoreBed): void {
  test("progress is added to every budget that a task counts in, its end keeps it, and events tell 80 and 100 % once", async () => {
    const store = await fresh();
    await launch(store, "a", { session: dollars(1), batch: { ...NO_LIMITS, tokens: 1_000 } });
    await launch(store, "b");
    await store.apply("a", progressed(0.5));
    await store.apply("a", progressed(0.7));
    expect(await budget(store)).toMatchObject({ spent: { cost: 0.7, tokens: 10 }, tasks: 2, live: 2, warnedAt: null });
    await store.apply("b", progressed(0.15));
    await store.apply("b", progressed(0.2));
    expect(await budget(store, "batch:batch")).toMatchObject({ spent: { tokens: 20 }, tasks: 2, live: 2 });
    await store.apply("b", failed(0.4));
    await store.apply("a", completed(40));
    const { spent, live, usedUpAt, warnedAt } = await budget(store);
    expect(spent.cost).toBeCloseTo(1.1);
    expect({ live, usedUpAt, warnedAt }).toEqual({ live: 0, usedUpAt: 30, warnedAt: 20 });
    const told = (await store.feed(0)).filter(({ event }) => event.type.startsWith("budget."));
    expect(told.map(({ taskId, event }) => [taskId, event.type])).toEqual([
      ["b", "budget.warned"],
      ["b", "budget.used_up"],
    ]);
    const notices = await store.notices("parent", "pending");
    expect(notices.filter(({ kind }) => kind === "budget").map(({ topic, wake }) => [topic.slice(0, 4), wake])).toEqual(
      [["85 %", "silent"]],
    );
  });

  test("a task with a budget of its own reserves it until it ends, and again when it is resumed", async () => {
    const store = await fresh();
    await launch(store, "a", { session: dollars(3), task: dollars(2) });
    expect((await budget(store)).reserved.cost).toBe(2);
    await expect(launch(store, "b", { task: dollars(1.5) })).rejects.toMatchObject({
      code: "over_budget",
      details: { budget: SESSION, measure: "cost", left: 1 },
    });
    expect(await store.task("b")).toBeNull();
    await launch(store, "b", { task: dollars(1) });
    await expect(launch(store, "c")).rejects.toThrow("has $0.00 left of $3.00 ($0.00 spent, $3.00 reserved");
    await store.apply("a", progressed(0.5));
    expect(await budget(store)).toMatchObject({ spent: { cost: 0.5 }, reserved: { cost: 2.5 } });
    await store.apply("a", completed(40));
    expect(await budget(store)).toMatchObject({ spent: { cost: 0.5 }, reserved: { cost: 1 } });
    await launch(store, "c", { task: dollars(1) });
    await expect(store.apply("a", resumed(50))).rejects.toMatchObject({ code: "over_budget" });
    expect((await store.task("a"))?.status).toBe("completed");
    await store.apply("c", failed(null));
    await store.apply("a", resumed(60));
    expect(await budget(store)).toMatchObject({ live: 2, tasks: 3, reserved: { cost: 2.5 } });
  });

  test("tasks below a task count in its budget and in those around it, and reserve nothing twice", async () => {
    const store = await fresh();
    await launch(store, "a", { session: dollars(3), task: { ...dollars(2), tasks: 2 } });
    await launch(store, "a1", { task: dollars(1.5) }, { parentSessionId: "a", batchId: "inner" });
    expect(await budget(store)).toMatchObject({ live: 2, tasks: 2, reserved: { cost: 2 } });
    expect(await budget(store, "task:a")).toMatchObject({ live: 2, tasks: 1, reserved: { cost: 1.5 } });
    await store.apply("a1", progressed(1));
    expect(await budget(store)).toMatchObject({ spent: { cost: 1 }, reserved: { cost: 1 } });
    expect(await budget(store, "task:a")).toMatchObject({ spent: { cost: 1 }, reserved: { cost: 0.5 } });
    await launch(store, "a2", {}, { parentSessionId: "a", batchId: "inner" });
    await expect(launch(store, "a3", {}, { parentSessionId: "a", batchId: "inner" })).rejects.toThrow("allows 2 tasks");
    // While a task below it lives, what it reserved stays.
    await store.apply("a", completed(40));
    expect((await budget(store)).reserved.cost).toBe(1);
    await store.apply("a1", completed(40));
    await store.apply("a2", completed(40));
    expect(await budget(store)).toMatchObject({ spent: { cost: 1 }, reserved: { cost: 0 }, live: 0 });
  });

  test("a budget that is set later counts what was used, and can be raised; an agent only lowers it", async () => {
    const store = await fresh();
    await launch(store, "a", { task: dollars(2) });
    await launch(store, "a1", {}, { parentSessionId: "a", batchId: "inner" });
    await store.apply("a", progressed(0.5, 100));
    await store.apply("a1", progressed(0.25, 50));
    const change = { by: "me", at: 70, mayRaise: true };
    expect(await store.budgets.set(SESSION, { ...change, limits: dollars(1) })).toMatchObject({
      spent: { cost: 0.75, tokens: 150 },
      reserved: { cost: 1.25 },
      tasks: 2,
      live: 2,
      setBy: "me",
    });
    await store.apply("a1", progressed(0.5, 60));
    expect(await budget(store)).toMatchObject({ spent: { cost: 1 }, usedUpAt: 20 });
    await store.budgets.set(SESSION, { ...change, limits: { cost: 5 } });
    expect(await budget(store)).toMatchObject({ usedUpAt: null, warnedAt: null, limits: { cost: 5 } });
    const model = { ...change, mayRaise: false };
    await expect(store.budgets.set(SESSION, { ...model, limits: { cost: 6 } })).rejects.toMatchObject({
      code: "not_allowed",
    });
    await expect(store.budgets.set(SESSION, { ...model, limits: { cost: null } })).rejects.toMatchObject({
      code: "not_allowed",
    });
    await store.budgets.set(SESSION, { ...model, limits: { cost: 4, tokens: 500 } });
    expect((await budget(store)).limits).toEqual({ ...NO_LIMITS, cost: 4, tokens: 500 });
    // The budget of the task lets it reserve less in the one around it.
    await store.budgets.set("task:a", { ...model, limits: { cost: 1.5 } });
    expect((await budget(store)).reserved.cost).toBeCloseTo(0.5);
    await expect(store.budgets.set("task:unknown", { ...change, limits: dollars(1) })).rejects.toMatchObject({
      code: "not_found",
    });
    // It would stand in for the one of the settings.
    await expect(store.budgets.set("session:new", { ...model, limits: dollars(1_000) })).rejects.toMatchObject({
      code: "not_found",
    });
    expect((await store.budgets.set("session:new", { ...change, limits: dollars(1) })).limits.cost).toBe(1);
  });

  test("a request begins only if those under way leave something, and lands with the progress, an end or a retry", async () => {
    const store = await fresh();
    await launch(store, "a", { session: dollars(1) });
    await launch(store, "b");
    await launch(store, "c");
    expect(await store.budgets.openRequest("a")).toEqual({ verdict: "go" });
    expect(await store.budgets.openRequest("b")).toEqual({ verdict: "wait", isFirst: true });
    await store.apply("a", progressed(0.3));
    for (const id of ["a", "b", "c"]) expect(await store.budgets.openRequest(id)).toEqual({ verdict: "go" });
    // The same request again, after a provider failed.
    expect(await store.budgets.openRequest("a")).toEqual({ verdict: "go" });
    expect((await budget(store)).flying).toBe(3);
    await store.apply("a", progressed(0.6));
    expect(await store.budgets.openRequest("a")).toEqual({ verdict: "wait", isFirst: false });
    const retrying = { kind: "retrying", reason: "busy", count: 1 } as const;
    await store.apply("b", { type: "run.phased", at: 25, run: 0, phase: "retrying", detail: retrying });
    expect(await store.budgets.openRequest("a")).toEqual({ verdict: "go" });
    await store.apply("c", failed(null));
    expect((await budget(store)).flying).toBe(1);
    await store.apply("a", progressed(1));
    expect(await store.budgets.openRequest("a")).toEqual({ verdict: "stop" });
    expect(await store.budgets.openRequest("c")).toEqual({ verdict: "go" });
    expect((await budget(store)).flying).toBe(0);
  });

  test("a pause counts what was used until then and lands the request, and what is reserved stays so", async () => {
    const store = await fresh();
    await launch(store, "a", { session: dollars(2), task: dollars(1) });
    await launch(store, "b");
    for (const id of ["a", "b"]) expect(await store.budgets.openRequest(id)).toEqual({ verdict: "go" });
    const pause = { type: "run.paused", at: 20, run: 0, cause: "quota", until: 3_600_020, reason: "limit" } as const;
    for (const id of ["a", "b"]) await store.apply(id, { ...pause, progress: { ...noProgress(20), cost: 0.25 } });
    expect(await budget(store)).toMatchObject({ spent: { cost: 0.5 }, reserved: { cost: 0.75 }, live: 2, flying: 0 });
    expect(await budget(store, "task:a")).toMatchObject({ spent: { cost: 0.25 }, live: 1, flying: 0 });
  });

  test("a request of a task that has reserved what it may use holds up nobody else", async () => {
    const store = await fresh();
    await launch(store, "a", { session: dollars(1), task: dollars(0.5) });
    await launch(store, "b");
    expect(await store.budgets.openRequest("a")).toEqual({ verdict: "go" });
    expect([(await budget(store)).flying, (await budget(store, "task:a")).flying]).toEqual([0, 1]);
    expect(await store.budgets.openRequest("b")).toEqual({ verdict: "go" });
    await store.apply("b", progressed(0.5));
    expect(await store.budgets.openRequest("b")).toEqual({ verdict: "stop" });
    await store.apply("a", progressed(0.25));
    expect(await store.budgets.openRequest("a")).toEqual({ verdict: "go" });
  });

  test(
    "of many launches from several handles at once, only as many get in as fit, and nothing is lost of what they use",
    async () => {
      const stores = await handles(3);
      const [store] = stores;
      if (store === undefined) throw new Error("no store");
      const tries = Array.from({ length: 12 }, (_, index) =>
        launch(stores[index % 3] ?? store, `t${index}`, { session: { ...dollars(5), tasks: 9 }, task: dollars(1) }),
      );
      const settled = await Promise.allSettled(tries);
      const launched = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value.id] : []));
      expect(launched).toHaveLength(5);
      for (const each of settled) if (each.status === "rejected") expect(each.reason.code).toBe("over_budget");
      await Promise.all(
        launched.flatMap((id, index) =>
          [0.1, 0.2, 0.3].map((cost) => (stores[(index + 1) % 3] ?? store).apply(id, progressed(cost))),
        ),
      );
      await Promise.all(launched.map((id) => store.apply(id, progressed(0.5))));
      const { spent, reserved, live } = await budget(store);
      expect(spent.cost).toBeCloseTo(2.5);
      expect(reserved.cost).toBeCloseTo(2.5);
      expect(live).toBe(5);
      await Promise.all(launched.map((id, index) => (stores[index % 3] ?? store).apply(id, failed(0.5))));
      expect(await budget(store)).toMatchObject({ live: 0, tasks: 5, flying: 0 });
      expect((await budget(store)).reserved.cost).toBeCloseTo(0);
    },
    LONG_TEST_TIMEOUT_MS,
  );

  test(
    "tasks that are created while a budget is set count in it exactly once",
    async () => {
      const [one, other] = await handles(2);
      if (one === undefined || other === undefined) throw new Error("no store");
      for (let round = 0; round < 5; round++) {
        const more = { parentSessionId: `p${round}`, batchId: `batch${round}` };
        const work = Array.from({ length: 6 }, async (_, index) => {
          const id = `r${round}t${index}`;
          await create(one, id, more);
          await one.apply(id, progressed(1));
        });
        const change = { by: "me", at: 1, mayRaise: true, limits: dollars(100) };
        await Promise.all([...work, other.budgets.set(`session:p${round}`, change)]);
        expect(await budget(one, `session:p${round}`)).toMatchObject({ spent: { cost: 6 }, tasks: 6, live: 6 });
      }
    },
    LONG_TEST_TIMEOUT_MS,
  );

  test("a budget that is set for the session of a task counts what that session launches later, too", async () => {
    const store = await fresh();
    await launch(store, "top", { session: dollars(100) });
    const below = { parentSessionId: "top", batchId: "below" };
    await create(store, "one", below);
    await store.budgets.set("session:top", { limits: { cost: 1 }, by: "me", at: 5, mayRaise: true });
    await create(store, "two", below);
    await store.apply("two", progressed(50));
    expect(await budget(store, "session:top")).toMatchObject({ tasks: 2, live: 2, spent: { cost: 50 } });
    expect(await budget(store)).toMatchObject({ tasks: 3, live: 3, spent: { cost: 50 } });
    expect(await store.budgets.openRequest("one")).toEqual({ verdict: "stop" });
  });

  test("an estimate that is corrected takes back that a budget is used up, and the next time is told again", async () => {
    const store = await fresh();
    await launch(store, "a", { session: dollars(1) });
    await launch(store, "b");
    await store.apply("a", progressed(1.2));
    await store.apply("a", failed(0.5));
    expect(await store.budgets.list({ usedUpAfter: 0 })).toEqual([]);
    await store.apply("b", progressed(0.6));
    expect(await budget(store)).toMatchObject({ usedUpAt: 20 });
    const told = (await store.feed(0)).filter(({ event }) => event.type === "budget.used_up");
    expect(told.map(({ taskId }) => taskId)).toEqual(["a", "b"]);
  });

  test("what a budget stopped is listed with it, whatever else failed in it", async () => {
    const store = await fresh();
    await launch(store, "a", { session: dollars(1), task: dollars(0.5) });
    for (const id of ["b", "c", "d"]) await launch(store, id);
    const end = (id: string, at: number, error: string) =>
      store.apply(id, { type: "run.failed", at, run: 0, error, progress: noProgress(0) });
    await end("a", 30, "stopped: the budget of session parent is used up ($2.00 of $1.00). Raise it.");
    await end("b", 40, "stopped: the budget of session parent is used up ($2.00 of $1.00). Raise it.");
    await end("c", 50, "the provider failed");
    const stopped = await store.budgets.stopped([SESSION, "task:a"]);
    expect(stopped.map(({ id, budgetId }) => [id, budgetId])).toEqual([
      ["b", SESSION],
      ["a", SESSION],
    ]);
    expect(await store.budgets.stopped([])).toEqual([]);
  });

  test("nothing flies of a task that is paused, or waits in a queue again", async () => {
    const store = await fresh();
    const requeued = { type: "run.requeued", at: 20, run: 0, reason: "x", progress: noProgress(0) } as const;
    const paused = { type: "run.paused", at: 20, run: 0, cause: "quota", until: 90, reason: "x" } as const;
    await launch(store, "a", { session: dollars(1) }, { sessionId: "session-a" });
    await launch(store, "b");
    expect(await store.budgets.openRequest("a")).toEqual({ verdict: "go" });
    await store.apply("a", requeued);
    expect((await budget(store)).flying).toBe(0);
    await store.apply("b", { ...paused, progress: noProgress(0) });
    // Its host was about to try again when it was stopped.
    expect(await store.budgets.openRequest("b")).toEqual({ verdict: "go" });
    expect((await budget(store)).flying).toBe(0);
  });

  test("a pruned task takes its links along, and the last one its budgets; what was spent stays until then", async () => {
    const store = await fresh();
    await launch(store, "a", { session: dollars(3), task: dollars(1) });
    await launch(store, "b");
    await store.apply("a", failed(0.5));
    await store.dropNotices("parent", "told", 40);
    await store.apply("b", failed(0.25));
    await store.dropNotices("parent", "told", 40);
    await store.prune({ ...PRUNE, ids: ["a"] });
    expect(await store.budgets.get("task:a")).toBeNull();
    expect(await budget(store)).toMatchObject({ spent: { cost: 0.75 }, tasks: 2 });
    await launch(store, "newest", {}, { parentSessionId: "third", batchId: "third" });
    await store.prune(PRUNE);
    expect(await store.task("b")).toBeNull();
    expect(await store.budgets.get(SESSION)).toBeNull();
  });

  test("who removes the tasks of a session does not get its budget back; it is forgotten with what is as old", async () => {
    const store = await fresh();
    await launch(store, "a", { session: dollars(3), task: dollars(1) });
    await launch(store, "b", {}, { parentSessionId: "other" });
    for (const id of ["a", "b"]) await store.apply(id, failed(0.5));
    for (const parent of ["parent", "other"]) await store.dropNotices(parent, "told", 40);
    await store.prune({ ...PRUNE, ids: ["a"] });
    expect(await store.budgets.get("task:a")).toBeNull();
    expect(await budget(store)).toMatchObject({ spent: { cost: 0.5 } });
    await launch(store, "newest", {}, { parentSessionId: "third", batchId: "third" });
    await store.prune(PRUNE);
    expect(await store.task("b")).toBeNull();
    expect(await store.budgets.get(SESSION)).toBeNull();
  });
}
