import { describe, expect, onTestFinished, test } from "bun:test";
import { Overview } from "../../src/engine/watching/overview.ts";
import { noProgress } from "../../src/model/progress.ts";
import { sqliteStore } from "../../src/store/open.ts";
import { completed, create, newTask, resumed } from "../../src/testing/sample-task.ts";
import { temporaryFolders } from "../store/temporary-folder.ts";
import { codeOf } from "./engine-bed.ts";

const temporaryFolder = temporaryFolders();

async function overviewOfNothing() {
  const store = await sqliteStore({ directory: temporaryFolder() });
  onTestFinished(() => store.close());
  return { store, overview: new Overview(store) };
}

/** The usage of a run, as counted by its host. */
function used(toolCalls: number, cost: number) {
  const tokens = { input: 1, output: 2, reasoning: 3, cacheRead: 4, cacheWrite: 5 };
  return { ...noProgress(1), toolCalls, tokens, cost };
}

describe("a group", () => {
  test("sums up what its tasks did, and ends with the last of them", async () => {
    const { store, overview } = await overviewOfNothing();
    await create(store, "a", { batchId: "g" }, 1_000);
    await create(store, "b", { batchId: "g" }, 500);
    await create(store, "other", { batchId: "h" }, 100);
    await store.apply("a", { ...completed(9_000), progress: used(2, 0.25) } as never);
    expect(await overview.group("g", 100)).toMatchObject({ startedAt: 500, endedAt: null, total: 2 });
    await store.apply("b", { type: "run.failed", at: 4_000, run: 0, error: "x", progress: used(3, 0.5) });
    const group = await overview.group("g", 100);
    expect(group).toMatchObject({
      id: "g",
      truncated: false,
      total: 2,
      toolCalls: 5,
      cost: 0.75,
      startedAt: 500,
      endedAt: 9_000,
      byStatus: { running: 0, completed: 1, error: 1, cancelled: 0, resumed: 0 },
      tokens: { input: 2, output: 4, reasoning: 6, cacheRead: 8, cacheWrite: 10 },
    });
    expect(group.tasks.map(({ id }) => id).sort()).toEqual(["a", "b"]);
    expect(group.runs).toHaveLength(2);
    await store.apply("b", { ...resumed(9_500), allow: ["error"] });
    expect(await overview.group("g", 100)).toMatchObject({ endedAt: null, byStatus: { resumed: 1 } });
  });

  test("of many is counted completely, and shows a thousand", async () => {
    const { store, overview } = await overviewOfNothing();
    await store.write(async (transaction) => {
      for (let i = 0; i < 1_001; i++) {
        const id = `t-${i}`;
        await transaction.apply(id, { type: "task.created", at: 1, task: newTask(id, { batchId: "g" }) });
      }
    });
    const { total, tasks, truncated, byStatus } = await overview.group("g", 0);
    expect({ total, shown: tasks.length, truncated, running: byStatus.running }).toEqual({
      total: 1_001,
      shown: 1_000,
      truncated: true,
      running: 1_001,
    });
  });

  test("that does not exist is rejected, and so is such a task", async () => {
    const { overview } = await overviewOfNothing();
    expect(await codeOf(overview.group("g", 0))).toBe("group_not_found");
    expect(await codeOf(overview.task("t"))).toBe("task_not_found");
    expect(await codeOf(overview.runs("t"))).toBe("task_not_found");
  });
});

describe("figures", () => {
  test("of an empty store are all zero", async () => {
    const { overview } = await overviewOfNothing();
    expect(await overview.figures()).toMatchObject({
      totalTasks: 0,
      activeTasks: 0,
      byAgent: {},
      agents: [],
      duration: { avg: 0, max: 0, min: 0, count: 0 },
    });
  });

  test("count tasks by agent and status, and the durations of ended runs", async () => {
    const { store, overview } = await overviewOfNothing();
    await create(store, "a", { agent: "explore" }, 1_000);
    await create(store, "b", { agent: "explore" }, 1_000);
    await create(store, "c", { agent: "build" }, 1_000);
    await create(store, "d", { agent: "idle" }, 1_000);
    await store.apply("a", completed(2_000));
    await store.apply("b", completed(4_000));
    await store.apply("c", { type: "run.cancelled", at: 11_000, run: 0, reason: "x", progress: used(2, 0.5) });
    await store.apply("a", resumed(12_000));
    const figures = await overview.figures();
    expect(figures).toMatchObject({
      totalTasks: 4,
      activeTasks: 2,
      byAgent: { explore: 2, build: 1, idle: 1 },
      byStatus: { running: 1, completed: 1, error: 0, cancelled: 1, resumed: 1 },
      duration: { count: 3, min: 1_000, max: 10_000 },
    });
    expect(figures.duration.avg).toBeCloseTo(14_000 / 3);
    const agent = (name: string) => figures.agents.find((each) => each.agent === name);
    expect(agent("explore")).toMatchObject({ tasks: 2, active: 1, duration: { avg: 2_000, min: 1_000, max: 3_000 } });
    expect(agent("build")).toMatchObject({ tasks: 1, active: 0, toolCalls: 2, cost: 0.5 });
    expect(agent("idle")).toMatchObject({ active: 1, duration: { avg: 0, min: 0, max: 0, count: 0 } });
  });
});
