/**
 * The part of the store suite about figures: totals of agents, the history, and the runs of a batch. Stored figures
 * must equal a full count. See `store-conformance.ts`, which combines the parts.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { TaskEvent } from "../../../model/events.ts";
import { noProgress } from "../../../model/progress.ts";
import { type Run, STATUSES, type Status, type Task } from "../../../model/task.ts";
import type { AgentTotals, HistoryQuery, Store } from "../../../store/store.ts";
import { anyTaskEvent } from "../../any-event.ts";
import { completed, create, newTask, resumed } from "../../sample-task.ts";
import { propertyTest, type StoreBed } from "./store-bed.ts";

const AGENTS = ["build", "explore", "ünï🌍", ""];

export function totalsSuite(bed: StoreBed): void {
  test("an agent's tasks add up: statuses, ended runs, durations, tools, tokens, cost", async () => {
    const store = await bed.fresh();
    expect(await store.agentTotals()).toEqual([]);
    await create(store, "a", { agent: "build" }, 1_000);
    const progress = { ...noProgress(1), toolCalls: 3, cost: 0.5 };
    progress.tokens = { input: 1, output: 2, reasoning: 3, cacheRead: 4, cacheWrite: 5 };
    await store.apply("a", { type: "run.progressed", at: 2_000, run: 0, progress });
    await store.apply("a", completed(2_500));
    await store.apply("a", resumed(3_000));
    await store.apply("a", {
      type: "run.failed",
      at: 3_100,
      run: 1,
      error: "no",
      progress: { ...progress, cost: 0.75 },
    });
    await create(store, "b", { agent: "build" }, 1_000);
    await create(store, "c", { agent: "a" }, 1_000);
    const none = { running: 0, completed: 0, error: 0, cancelled: 0, resumed: 0 };
    const nothing = { endedRuns: 0, durationSum: 0, durationMin: 0, durationMax: 0, toolCalls: 0, cost: 0 };
    expect(await store.agentTotals()).toEqual([
      { agent: "a", byStatus: { ...none, running: 1 }, ...nothing, tokens: noProgress(0).tokens },
      {
        agent: "build",
        byStatus: { ...none, running: 1, error: 1 },
        endedRuns: 2,
        durationSum: 1_600,
        durationMin: 100,
        durationMax: 1_500,
        toolCalls: 3,
        tokens: progress.tokens,
        cost: 0.75,
      },
    ]);
  });

  test("what tasks used adds up by the time of their start and by model", async () => {
    const store = await bed.fresh();
    const add = async (id: string, at: number, model: string | null, cost: number) => {
      await create(store, id, { model }, at);
      const tokens = { input: 10, output: 2, reasoning: 3, cacheRead: 4, cacheWrite: 5 };
      const progress = { ...noProgress(1), cost, tokens };
      await store.apply(id, { type: "run.completed", at: at + 1, run: 0, result: "x", progress });
    };
    await add("a", 1_000, "p/one", 0.25);
    await add("b", 1_099, "p/one", 0.5);
    await add("c", 1_050, null, 0.125);
    await add("free", 1_060, null, 0);
    await create(store, "idle", { model: null }, 1_070);
    await add("d", 1_100, "p/one", 1);
    await add("before", 999, "p/one", 9);
    await add("after", 1_200, "p/one", 9);
    const one = { input: 10, output: 2, reasoning: 3, cacheRead: 4, cacheWrite: 5 };
    const two = { input: 20, output: 4, reasoning: 6, cacheRead: 8, cacheWrite: 10 };
    expect(await store.usage({ from: 1_000, to: 1_200, bucketMs: 100 })).toEqual([
      { at: 1_000, model: null, tasks: 3, cost: 0.125, tokens: two, unpriced: 1 },
      { at: 1_000, model: "p/one", tasks: 2, cost: 0.75, tokens: two, unpriced: 0 },
      { at: 1_100, model: "p/one", tasks: 1, cost: 1, tokens: one, unpriced: 0 },
    ]);
    expect(await store.usage({ from: 5_000, to: 5_000, bucketMs: 100 })).toEqual([]);
    await expect(store.usage({ from: 0, to: 100_000, bucketMs: 100 })).rejects.toMatchObject({ code: "invalid_input" });
  });

  test("an agent whose only task was begun by another one has no totals", async () => {
    const store = await bed.fresh();
    const queued = newTask("q", { agent: "asked", sessionId: "" });
    await store.apply("q", { type: "task.created", at: 5, task: queued });
    const place = { owner: "i", sessionId: "s", directory: "/", messageId: "m", clone: null };
    await store.apply("q", { type: "task.claimed", at: 6, run: 0, agent: "had", model: null, ...place });
    expect((await store.agentTotals()).map(({ agent }) => agent)).toEqual(["had"]);
  });

  propertyTest("after any events the totals equal a fold over all tasks and runs", 30, async () => {
    const store = await bed.fresh();
    const ids: string[] = [];
    const agent = fc.constantFrom(...AGENTS);
    const turn = fc.record({ task: fc.nat({ max: 2 }), event: anyTaskEvent("?"), agent });
    return fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 30 }), agent, async (turns, first) => {
      const own = [0, 1, 2].map((index) => `${ids.length + index}`);
      ids.push(...own);
      const born = { type: "task.created", at: 5, task: newTask(own[0] ?? "", { agent: first }) } as const;
      await store.apply(own[0] ?? "", born);
      for (const { task, event, agent } of turns) {
        const id = own[task] ?? "";
        const had = await store.task(id);
        await store.apply(id, ofAgent(event, id, event.type === "task.claimed" ? (had?.agent ?? agent) : agent));
      }
      await expectTotals(store, ids);
    });
  });
}

/** A task that another agent begins leaves what it did before with the first one: that has a test of its own. */
function ofAgent(event: TaskEvent, id: string, agent: string): TaskEvent {
  if (event.type === "task.claimed") return { ...event, agent };
  if (event.type === "task.created") return { ...event, task: { ...event.task, id, agent } };
  return event.type === "task.imported" ? { ...event, task: { ...event.task, id, agent } } : event;
}

async function expectTotals(store: Store, ids: string[]): Promise<void> {
  const tasks: Task[] = [];
  for (const id of ids) {
    const task = await store.task(id);
    if (task) tasks.push(task);
  }
  const runs = new Map<string, Run[]>();
  for (const { id } of tasks) runs.set(id, await store.runs(id, 200));
  const totals = await store.agentTotals();
  const folded = fold(tasks, runs);
  expect(totals.map(withoutCost)).toEqual(folded.map(withoutCost));
  // Adding and subtracting fractions leaves rounding errors.
  totals.forEach(({ cost }, index) => void expect(Math.abs(cost - (folded[index]?.cost ?? 0))).toBeLessThan(1e-3));

  for (const agent of [undefined, ...AGENTS]) {
    for (const status of [undefined, ...STATUSES.map((each) => [each]), ["running", "error"] as const, []]) {
      const matching = tasks.filter((task) => (status as Status[] | undefined)?.includes(task.status) ?? true);
      const expected = matching.filter((task) => agent === undefined || task.agent === agent).length;
      // Two pages: a full one, which reads the total, and one beyond the end.
      for (const offset of [0, 10_000]) {
        const { total } = await store.tasks({ limit: 1, offset, textChars: 0, status, agent });
        expect([agent, status, total]).toEqual([agent, status, expected]);
      }
    }
  }
}

function withoutCost({ cost: _cost, ...totals }: AgentTotals) {
  return totals;
}

function fold(tasks: readonly Task[], runs: ReadonlyMap<string, readonly Run[]>): AgentTotals[] {
  const agents = [...new Set(tasks.map((task) => task.agent))].sort((one, other) =>
    Buffer.compare(Buffer.from(one), Buffer.from(other)),
  );
  return agents.map((agent) => {
    const own = tasks.filter((task) => task.agent === agent);
    const sum = (of: (task: Task) => number) => own.reduce((total, task) => total + of(task), 0);
    const durations = own
      .flatMap((task) => runs.get(task.id) ?? [])
      .flatMap((run) => (run.endedAt === null ? [] : [Math.max(0, run.endedAt - run.startedAt)]));
    const count = (status: Status) => own.filter((task) => task.status === status).length;
    return {
      agent,
      byStatus: Object.fromEntries(STATUSES.map((status) => [status, count(status)])) as Record<Status, number>,
      endedRuns: durations.length,
      durationSum: durations.reduce((total, each) => total + each, 0),
      durationMin: durations.length === 0 ? 0 : Math.min(...durations),
      durationMax: durations.length === 0 ? 0 : Math.max(...durations),
      toolCalls: sum(({ progress }) => progress.toolCalls),
      tokens: {
        input: sum(({ progress }) => progress.tokens.input),
        output: sum(({ progress }) => progress.tokens.output),
        reasoning: sum(({ progress }) => progress.tokens.reasoning),
        cacheRead: sum(({ progress }) => progress.tokens.cacheRead),
        cacheWrite: sum(({ progress }) => progress.tokens.cacheWrite),
      },
      cost: sum(({ progress }) => progress.cost),
    };
  });
}

export function historySuite(bed: StoreBed): void {
  test("a window includes its first moment and excludes its last; a value on a bound counts above it", async () => {
    const store = await bed.fresh();
    for (const [id, at, ended] of [
      ["before", 999, 1_999],
      ["first", 1_000, 1_005],
      ["same", 1_009, 1_019],
      ["next", 1_010, 1_110],
      ["last", 1_024, 1_023],
      ["after", 1_025, 1_025],
    ] as const) {
      await create(store, id, {}, at);
      await store.apply(id, completed(ended));
    }
    await create(store, "live", {}, 1_011);
    const window = { from: 1_000, to: 1_025, bucketMs: 10 };
    expect(await store.history({ ...window, durationBounds: [0, 5, 10] })).toEqual({
      buckets: [
        { at: 1_000, status: "completed", count: 2 },
        { at: 1_010, status: "running", count: 1 },
        { at: 1_010, status: "completed", count: 1 },
        { at: 1_020, status: "completed", count: 1 },
      ],
      durations: [
        { below: 0, runs: 0 },
        { below: 5, runs: 1 },
        { below: 10, runs: 1 },
        { below: null, runs: 1 },
      ],
    });
    const whole = { from: 0, to: 5_000, bucketMs: 10 };
    expect((await store.history({ ...whole, durationBounds: [] })).durations).toEqual([{ below: null, runs: 6 }]);
    expect(await store.history({ from: 9, to: 9, bucketMs: 1, durationBounds: [] })).toEqual({
      buckets: [],
      durations: [{ below: null, runs: 0 }],
    });
  });

  test("too many buckets and invalid windows are rejected", async () => {
    const store = await bed.fresh();
    const now = Date.now();
    const good: HistoryQuery = { from: now, to: now + 500 * 86_400_000, bucketMs: 86_400_000, durationBounds: [1, 2] };
    expect((await store.history(good)).buckets).toEqual([]);
    const wrong: Partial<HistoryQuery>[] = [
      { to: good.to + 1 },
      { bucketMs: 0 },
      { bucketMs: -1 },
      { bucketMs: Number.NaN },
      { from: Number.NEGATIVE_INFINITY },
      { durationBounds: [2, 2] },
      { durationBounds: [3, 2] },
    ];
    for (const part of wrong) {
      const refused = await store.history({ ...good, ...part }).catch((thrown) => thrown);
      expect([part, refused.code]).toEqual([part, "invalid_input"]);
    }
  });

  propertyTest("any window counts what a filter gives", 40, async () => {
    const store = await bed.fresh();
    const time = fc.nat({ max: 60 });
    const made: { at: number; ended: number | null }[] = [];
    const step = fc.record({
      tasks: fc.array(fc.record({ at: time, ended: fc.option(time) }), { minLength: 1, maxLength: 4 }),
      window: fc.record({ from: time, to: time, bucketMs: fc.integer({ min: 1, max: 20 }) }),
      durationBounds: fc.uniqueArray(time, { maxLength: 4 }).map((bounds) => bounds.sort((a, b) => a - b)),
    });
    return fc.asyncProperty(step, async ({ tasks, window, durationBounds }) => {
      for (const { at, ended } of tasks) {
        await create(store, `t${made.length}`, {}, at);
        if (ended !== null) await store.apply(`t${made.length}`, completed(ended));
        made.push({ at, ended });
      }
      expect(await store.history({ ...window, durationBounds })).toEqual(
        historyOf(made, { ...window, durationBounds }),
      );
    });
  });
}

function historyOf(made: readonly { at: number; ended: number | null }[], query: HistoryQuery) {
  const { from, to, bucketMs, durationBounds } = query;
  const inside = (time: number) => time >= from && time < to;
  const buckets = [];
  for (let at = from; at < to; at += bucketMs) {
    const own = made.filter((task) => inside(task.at) && task.at >= at && task.at < at + bucketMs);
    const live = own.filter((task) => task.ended === null).length;
    if (live > 0) buckets.push({ at, status: "running" as const, count: live });
    if (own.length > live) buckets.push({ at, status: "completed" as const, count: own.length - live });
  }
  const durations = [...durationBounds, null].map((below) => ({ below, runs: 0 }));
  for (const { at, ended } of made) {
    if (ended === null || !inside(ended)) continue;
    const slot = durations.find(({ below }) => below === null || Math.max(0, ended - at) < below);
    if (slot) slot.runs++;
  }
  return { buckets, durations };
}

export function spanSuite(bed: StoreBed): void {
  test("the runs of a batch are listed by start, oldest first, with shortened texts and a limit", async () => {
    const store = await bed.fresh();
    const long = "🌍".repeat(3_000);
    await create(store, "a", { prompt: long }, 20);
    await create(store, "b", {}, 10);
    await create(store, "c", {}, 10);
    await create(store, "elsewhere", { batchId: "another" }, 1);
    await store.apply("b", { type: "run.failed", at: 15, run: 0, error: long, progress: null });
    await store.apply("a", completed(25, 0, "one"));
    await store.apply("a", resumed(30));
    const cut = "🌍".repeat(2_048);
    const spans = [
      { taskId: "b", number: 0, prompt: "Do b", startedAt: 10, endedAt: 15, outcome: "error" as const, error: cut },
      { taskId: "c", number: 0, prompt: "Do c", startedAt: 10, endedAt: null, outcome: null, error: null },
      { taskId: "a", number: 0, prompt: cut, startedAt: 20, endedAt: 25, outcome: "completed" as const, error: null },
      { taskId: "a", number: 1, prompt: "go on", startedAt: 30, endedAt: null, outcome: null, error: null },
    ];
    expect(await store.batchRuns("batch")).toEqual(spans);
    expect(await store.batchRuns("batch", 2)).toEqual(spans.slice(0, 2));
    expect(await store.batchRuns("nothing")).toEqual([]);
  });
}
