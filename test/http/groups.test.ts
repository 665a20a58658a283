import { describe, expect, test } from "bun:test";
import { noProgress, type Progress } from "../../src/model/progress.ts";
import { groupSchema, type TaskGroup } from "../../src/protocol/statistics.ts";
import { runSchema } from "../../src/protocol/tasks.ts";
import { completed, create, newTask, resumed } from "../../src/testing/sample-task.ts";
import { type Api, failureOf, jsonOf, startApi } from "./bed/api-bed.ts";
import { strict } from "./bed/strict-schema.ts";

const schema = strict(groupSchema);

async function group(api: Api, id: string): Promise<TaskGroup> {
  return schema.parse(await jsonOf(api.ask(`/v1/task-groups/${encodeURIComponent(id)}`))) as TaskGroup;
}

function progress(toolCalls: number, cost: number): Progress {
  const tokens = { input: 10, output: 2, reasoning: 1, cacheRead: 5, cacheWrite: 3 };
  return { ...noProgress(1500), toolCalls, toolCallsByName: { bash: toolCalls }, tokens, cost };
}

describe("a task group", () => {
  test("sums up its tasks of every state", async () => {
    const api = await startApi();
    for (const [index, id] of ["run", "done", "bad", "off", "again"].entries()) {
      await create(api.store, id, { batchId: "bat" }, 1000 + index);
    }
    await create(api.store, "other", { batchId: "another" });
    await api.store.apply("done", { ...completed(3000), progress: progress(2, 0.5) } as never);
    await api.store.apply("bad", { type: "run.failed", at: 4000, run: 0, error: "no", progress: progress(1, 0.25) });
    await api.store.apply("off", { type: "run.cancelled", at: 9000, run: 0, reason: "no", progress: null });
    await api.store.apply("again", completed(2000));
    await api.store.apply("again", resumed(2500));
    const live = await group(api, "bat");
    expect(live).toMatchObject({
      id: "bat",
      completed: 1,
      running: 2,
      error: 1,
      cancelled: 1,
      total: 5,
      completionRate: 0.2,
      totalToolCalls: 3,
      cost: 0.75,
      truncated: false,
      endedAt: null,
      startedAt: "1970-01-01T00:00:01.000Z",
      tokens: { input: 20, output: 4, reasoning: 2, cacheRead: 10, cacheWrite: 6 },
    });
    expect(live.tasks.map(({ id }) => id)).toEqual(["again", "off", "bad", "done", "run"]);
    expect(live.duration).toBeGreaterThan(1e12);
  });

  test("has an end and a duration once all have ended, and runs of resumed tasks in order", async () => {
    const api = await startApi();
    await create(api.store, "one", { batchId: "bat", prompt: "p".repeat(3000) }, 1000);
    await create(api.store, "two", { batchId: "bat" }, 1200);
    await api.store.apply("one", completed(2000));
    await api.store.apply("one", resumed(2500));
    await api.store.apply("one", { type: "run.failed", at: 3000, run: 1, error: "e".repeat(3000), progress: null });
    await api.store.apply("two", completed(2200));
    const ended = await group(api, "bat");
    expect(ended).toMatchObject({ duration: 2000, endedAt: "1970-01-01T00:00:03.000Z", completionRate: 0.5, error: 1 });
    expect(ended.runs.map(({ taskId, number, outcome }) => [taskId, number, outcome])).toEqual([
      ["one", 0, "completed"],
      ["two", 0, "completed"],
      ["one", 1, "error"],
    ]);
    expect([ended.runs[0]?.prompt, ended.runs[2]?.error]).toEqual(["p".repeat(2048), "e".repeat(2048)]);
  });

  test("of more than a thousand tasks counts all and lists the newest thousand", async () => {
    const api = await startApi();
    await api.store.write(async (transaction) => {
      for (let index = 0; index < 1003; index++) {
        const id = `t${index}`;
        await transaction.apply(id, { type: "task.created", at: 1000 + index, task: newTask(id, { batchId: "big" }) });
        if (index % 2 === 0) await transaction.apply(id, completed(5000));
      }
    });
    const big = await group(api, "big");
    expect(big).toMatchObject({ total: 1003, truncated: true, completed: 502, running: 501 });
    expect(big.tasks).toHaveLength(1000);
    expect([big.tasks[0]?.id, big.tasks.at(-1)?.id]).toEqual(["t1002", "t3"]);
    expect(big.runs).toHaveLength(1003);
  });

  test("without tasks is not found", async () => {
    const api = await startApi();
    expect(await failureOf(api.ask("/v1/task-groups/none"))).toMatchObject({ status: 404, code: "group_not_found" });
    expect((await failureOf(api.ask("/v1/task-groups/"))).status).toBe(404);
  });
});

describe("the runs of a task", () => {
  test("come newest first, at most 200", async () => {
    const api = await startApi();
    await create(api.store, "often");
    await api.store.write(async (transaction) => {
      for (let run = 0; run < 205; run++) {
        await transaction.apply("often", completed(2000 + run, run, `result ${run}`));
        await transaction.apply("often", resumed(2000 + run));
      }
    });
    const runs = strict(runSchema)
      .array()
      .parse(await jsonOf(api.ask("/v1/tasks/often/runs"))) as { number: number }[];
    expect([runs.length, runs[0]?.number, runs.at(-1)?.number]).toEqual([200, 205, 6]);
    expect(await failureOf(api.ask("/v1/tasks/none/runs"))).toMatchObject({ status: 404, code: "task_not_found" });
  });

  test("the timeline of many runs has fewer spans of each", async () => {
    const api = await startApi();
    const spans = Array.from({ length: 200 }, (_, index) => {
      return {
        kind: "call",
        name: "bash",
        from: 10 * index,
        to: 10 * index + 5,
        count: 1,
        failed: 0,
        busyMs: 5,
      } as const;
    });
    const ids = Array.from({ length: 110 }, (_, index) => `t${index}`);
    for (const id of ids) {
      await create(api.store, id, { batchId: "bat" });
      await api.store.apply(id, completed(3000), undefined, spans);
    }
    const runs = (await jsonOf(api.ask("/v1/spans?group=bat"))) as { spans: { count: number }[] }[];
    expect(runs).toHaveLength(110);
    const counts = runs.map((run) => run.spans.length);
    expect([Math.min(...counts) > 50, Math.max(...counts) <= 181]).toEqual([true, true]);
    expect(runs[0]?.spans.reduce((sum, { count }) => sum + count, 0)).toBe(200);
    const own = (await jsonOf(api.ask("/v1/spans?task=t0"))) as { spans: unknown[] }[];
    expect(own[0]?.spans).toHaveLength(200);
  }, 30_000);
});
