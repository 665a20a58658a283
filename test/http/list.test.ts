import { describe, expect, test } from "bun:test";
import type { NewTask } from "../../src/model/events.ts";
import { taskListSchema, taskSchema } from "../../src/protocol/tasks.ts";
import { completed, create, resumed } from "../../src/testing/sample-task.ts";
import { type Api, failureOf, jsonOf, startApi } from "./bed/api-bed.ts";
import { strict } from "./bed/strict-schema.ts";

const listSchema = strict(taskListSchema);

/** The ids of the tasks that a query finds, in order; the answer must have the documented form. */
async function found(api: Api, query: string): Promise<string[]> {
  const answer = await api.ask(`/v1/tasks${query}`);
  expect(answer.status).toBe(200);
  const list = listSchema.parse(await answer.json()) as { tasks: { id: string }[]; total: number };
  expect(list.total).toBeGreaterThanOrEqual(list.tasks.length);
  return list.tasks.map(({ id }) => id);
}

async function withTasks(tasks: Record<string, Partial<NewTask>>): Promise<Api> {
  const api = await startApi();
  let at = 1000;
  for (const [id, fields] of Object.entries(tasks)) await create(api.store, id, fields, ++at);
  return api;
}

/** One in every state. */
async function withStates(): Promise<Api> {
  const api = await withTasks({ run: {}, done: {}, bad: {}, off: {}, again: {} });
  await api.store.apply("done", completed(2000));
  await api.store.apply("bad", { type: "run.failed", at: 2000, run: 0, error: "no credit", progress: null });
  await api.store.apply("off", { type: "run.cancelled", at: 2000, run: 0, reason: "enough", progress: null });
  await api.store.apply("again", completed(2000));
  await api.store.apply("again", resumed(2500));
  return api;
}

describe("the list", () => {
  test("an empty store gives an empty list with its defaults", async () => {
    const api = await startApi();
    expect(await jsonOf(api.ask("/v1/tasks"))).toEqual({ tasks: [], total: 0, limit: 50, offset: 0 });
  });

  test("shows tasks of every state, newest first", async () => {
    const api = await withStates();
    expect(await found(api, "")).toEqual(["again", "off", "bad", "done", "run"]);
    const { tasks } = await api.client.tasks();
    expect(tasks.map(({ status }) => status)).toEqual(["resumed", "cancelled", "error", "completed", "running"]);
    expect(tasks[1]).toMatchObject({ error: "enough", result: null, completedAt: "1970-01-01T00:00:02.000Z" });
    expect(tasks[3]).toMatchObject({ result: "done", phase: null, resumeCount: 0 });
    expect(tasks[0]).toMatchObject({ resumeCount: 1, prompt: "go on", completedAt: null });
  });

  test("filters by host, folder and time, and sorts, each with a clear refusal", async () => {
    const api = await withTasks({
      one: { host: "opencode", directory: "/shop/api", description: "b" },
      two: { host: "claude", directory: "/shop", description: "C" },
      three: { host: "claude", directory: "/shop-2", description: "a" },
    });
    await api.store.apply("two", completed(9000));
    expect(await found(api, "?host=claude")).toEqual(["three", "two"]);
    expect(await found(api, "?directory=/shop")).toEqual(["two", "one"]);
    expect(await found(api, "?from=1970-01-01T00:00:01.002Z&to=1970-01-01T00:00:01.003Z")).toEqual(["two"]);
    expect(await found(api, "?sort=description&order=asc")).toEqual(["three", "one", "two"]);
    expect(await found(api, "?sort=took")).toEqual(["two", "three", "one"]);
    expect(await api.client.selection({ host: "claude", limit: 1 })).toEqual({
      tasks: [{ id: "three", description: "a", status: "running" }],
      total: 2,
    });
    for (const [query, told] of [
      ["directory=shop", "directory: must be an absolute path"],
      ["from=yesterday", "from: must be a time such as"],
      ["from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "to: is before from"],
      ["sort=age", '"age" is none of started, took, cost, description, status'],
      ["order=up", '"up" is none of asc, desc'],
    ]) {
      for (const path of ["tasks", "selection"]) {
        const { code, message } = await failureOf(api.ask(`/v1/${path}?${query}`));
        expect([query, code, message]).toEqual([query, "invalid_input", expect.stringContaining(told ?? "")]);
      }
    }
  });

  test("filters by one status, by several, and by a repeated parameter", async () => {
    const api = await withStates();
    expect(await found(api, "?status=running")).toEqual(["run"]);
    expect(await found(api, "?status=running,error")).toEqual(["bad", "run"]);
    expect(await found(api, "?status=running&status=resumed")).toEqual(["again", "run"]);
    expect(await found(api, "?status=")).toHaveLength(5);
    expect((await api.client.tasks({ status: ["completed", "cancelled"], limit: 1 })).total).toBe(2);
  });

  test("an unknown status is rejected by name", async () => {
    const api = await withStates();
    for (const query of ["status=done", "status=running,done", "status=running&status=done"]) {
      const failure = await failureOf(api.ask(`/v1/tasks?${query}`));
      expect(failure).toMatchObject({ status: 400, code: "invalid_input", details: { parameters: ["status"] } });
      expect(failure.message).toContain("status");
      expect(failure.message).toContain('"done"');
    }
    expect((await failureOf(api.ask("/v1/tasks?status=Running"))).status).toBe(400);
  });

  test("filters by agent, parent and group, and by all of them together", async () => {
    const api = await withTasks({
      one: { agent: "explore", parentSessionId: "ses_a", batchId: "bat_1" },
      two: { agent: "general", parentSessionId: "ses_a", batchId: "bat_1" },
      three: { agent: "explore", parentSessionId: "ses_b", batchId: "bat_2" },
    });
    expect(await found(api, "?agent=explore")).toEqual(["three", "one"]);
    expect(await found(api, "?agent=Explore")).toEqual([]);
    expect(await found(api, "?parent=ses_a")).toEqual(["two", "one"]);
    expect(await found(api, "?group=bat_2")).toEqual(["three"]);
    expect(await found(api, "?agent=explore&parent=ses_a&group=bat_1&status=running&search=TASK")).toEqual(["one"]);
    expect(await found(api, "?agent=&search=&parent=&group=")).toHaveLength(3);
    expect(await api.client.tasks({ agent: "nobody" })).toMatchObject({ tasks: [], total: 0 });
  });

  test("search finds text and nothing else", async () => {
    const api = await withTasks({
      percent: { description: "Raise to 100% at last" },
      under: { description: "a snake_case name" },
      plain: { description: "a snakeXcase name, 100 of them" },
      quotes: { description: `it's "quoted" \\ back` },
      emoji: { description: "ship it 🚀 now" },
      upper: { description: "FIX the Ärger in ΣΙΓΜΑ" },
    });
    const search = (text: string) => found(api, `?search=${encodeURIComponent(text)}`);
    expect(await search("%")).toEqual(["percent"]);
    expect(await search("100%")).toEqual(["percent"]);
    expect(await search("_")).toEqual(["under"]);
    expect(await search("snake_case")).toEqual(["under"]);
    expect(await search("it's")).toEqual(["quotes"]);
    expect(await search('"quoted"')).toEqual(["quotes"]);
    expect(await search("\\")).toEqual(["quotes"]);
    expect(await search("' or 1=1 --")).toEqual([]);
    expect(await search("🚀")).toEqual(["emoji"]);
    expect(await search("IT 🚀 NO")).toEqual(["emoji"]);
    expect(await search("fix THE")).toEqual(["upper"]);
    expect(await search("ärger")).toEqual(["upper"]);
    expect(await search("a AND b OR c*")).toEqual([]);
    expect((await failureOf(api.ask(`/v1/tasks?search=${"x".repeat(501)}`))).message).toContain("search");
  });

  test("limit and offset page through all tasks, with the total count", async () => {
    const api = await withTasks(Object.fromEntries(Array.from({ length: 23 }, (_, index) => [`t${index}`, {}])));
    const pages = [];
    for (const offset of [0, 10, 20]) {
      const list = await api.client.tasks({ limit: 10, offset });
      expect(list).toMatchObject({ total: 23, limit: 10, offset });
      pages.push(...list.tasks.map(({ id }) => id));
    }
    expect(pages).toEqual(Array.from({ length: 23 }, (_, index) => `t${22 - index}`));
    expect(await api.client.tasks({ offset: 999_999_999_999_999 })).toMatchObject({ tasks: [], total: 23 });
    expect(await api.client.tasks({ limit: 0 })).toMatchObject({ tasks: [], total: 23, limit: 0 });
  });

  test("a limit above the maximum becomes the maximum; invalid ones are rejected by name", async () => {
    const api = await withStates();
    expect(await jsonOf(api.ask("/v1/tasks?limit=500"))).toMatchObject({ limit: 200, total: 5 });
    expect(await jsonOf(api.ask(`/v1/tasks?limit=${"9".repeat(400)}`))).toMatchObject({ limit: 200, total: 5 });
    for (const name of ["limit", "offset"]) {
      for (const value of ["-1", "abc", "1.5", "", "1e3", "0x10", "%201", "١", "1&limit=2&offset=2"]) {
        const failure = await failureOf(api.ask(`/v1/tasks?${name}=${value}`));
        expect(failure).toMatchObject({ status: 400, code: "invalid_input" });
        expect(failure.details.parameters).toContain(name);
        expect(failure.message).toContain(name);
      }
    }
    expect((await failureOf(api.ask("/v1/tasks?limit=x&offset=y"))).details).toEqual({
      parameters: ["limit", "offset"],
    });
  });

  test("unknown parameters are ignored", async () => {
    const api = await withStates();
    expect(await found(api, "?color=red&__proto__=x&constructor=y&toString=1&limit=1")).toEqual(["again"]);
    expect(await found(api, "?&&=&=x&limit=1")).toEqual(["again"]);
  });

  test("long texts are cut and marked in lists, and complete in the detail", async () => {
    const api = await withTasks({ long: { prompt: "p".repeat(8193) }, exact: { prompt: "p".repeat(8192) }, wide: {} });
    await api.store.apply("long", completed(2000, 0, "r".repeat(50_000)));
    await api.store.apply("wide", completed(2000, 0, `x${"🚀".repeat(8000)}`));
    const { tasks } = await api.client.tasks();
    const [wide, exact, long] = tasks;
    expect(exact).toMatchObject({ shortened: [], prompt: "p".repeat(8192) });
    expect(long).toMatchObject({ shortened: ["prompt", "result"], prompt: "p".repeat(8192), result: "r".repeat(8192) });
    expect(wide?.shortened).toEqual(["result"]);
    expect(wide?.result?.isWellFormed()).toBe(true);
    expect(await api.client.task("long")).toMatchObject({
      shortened: [],
      prompt: "p".repeat(8193),
      result: "r".repeat(50_000),
    });
    expect((await api.client.task("wide")).result).toBe(`x${"🚀".repeat(8000)}`);
  });

  test("a failed task's error is cut the same way", async () => {
    const api = await withTasks({ bad: {} });
    const error = "e".repeat(9000);
    await api.store.apply("bad", { type: "run.failed", at: 2000, run: 0, error, progress: null });
    expect((await api.client.tasks()).tasks[0]).toMatchObject({ shortened: ["error"], error: "e".repeat(8192) });
    expect(strict(taskSchema).parse(await jsonOf(api.ask("/v1/tasks/bad")))).toMatchObject({ error, shortened: [] });
  });

  test("a person's task has no parent, and an impossible time does not break the list", async () => {
    const api = await withTasks({ mine: { parentSessionId: "", parentMessageId: "", parentAgent: "" } });
    await create(api.store, "far", {}, 9e15);
    expect(await found(api, "")).toEqual(["far", "mine"]);
    const [far, mine] = (await api.client.tasks()).tasks;
    expect(mine).toMatchObject({ parentSessionID: null, parentMessageID: null, parentAgent: null });
    expect(far?.startedAt).toBe("9999-12-31T23:59:59.999Z");
  });
});
