import { describe, expect, test } from "bun:test";
import { z } from "zod";
import manifest from "../../package.json" with { type: "json" };
import { noProgress } from "../../src/model/progress.ts";
import { healthSchema, instanceSchema } from "../../src/protocol/server.ts";
import { historySchema, type Stats, type StatsHistory, statsSchema } from "../../src/protocol/statistics.ts";
import { completed, create, resumed } from "../../src/testing/sample-task.ts";
import { type Api, CORS, corsOf, failureOf, startApi } from "./bed/api-bed.ts";
import { strict } from "./bed/strict-schema.ts";

async function read<T>(api: Api, path: string, schema: z.ZodType): Promise<T> {
  const answer = await api.ask(path);
  expect([answer.status, corsOf(answer)]).toEqual([200, CORS]);
  return strict(schema).parse(await answer.json()) as T;
}

describe("stats", () => {
  test("of an empty store are all zero", async () => {
    const api = await startApi();
    expect(await read<Stats>(api, "/v1/stats", statsSchema)).toEqual({
      totalTasks: 0,
      removedTasks: 0,
      activeTasks: 0,
      byStatus: { running: 0, completed: 0, error: 0, cancelled: 0, resumed: 0 },
      byAgent: {},
      duration: { avg: 0, max: 0, min: 0, count: 0 },
      agents: [],
    });
  });

  test("count by status and agent, and measure ended runs", async () => {
    const api = await startApi();
    for (const id of ["a", "b", "c"]) await create(api.store, id, { agent: "explore" }, 1000);
    await create(api.store, "d", { agent: "__proto__" }, 1000);
    const progress = { ...noProgress(0), toolCalls: 4, cost: 0.5 };
    await api.store.apply("a", { type: "run.completed", at: 1100, run: 0, result: "x", progress });
    await api.store.apply("b", { type: "run.failed", at: 1500, run: 0, error: "x", progress: null });
    await api.store.apply("d", completed(4000));
    await api.store.apply("d", resumed(5000));
    const stats = await read<Stats>(api, "/v1/stats", statsSchema);
    expect(stats).toMatchObject({
      totalTasks: 4,
      activeTasks: 2,
      duration: { avg: 1200, max: 3000, min: 100, count: 3 },
      byStatus: { running: 1, completed: 1, error: 1, cancelled: 0, resumed: 1 },
    });
    expect(Object.entries((await api.client.stats()).byAgent).sort()).toEqual([
      ["__proto__", 1],
      ["explore", 3],
    ]);
    expect(stats.agents.find(({ agent }) => agent === "explore")).toMatchObject({
      tasks: 3,
      active: 1,
      toolCalls: 4,
      cost: 0.5,
      duration: { avg: 300, max: 500, min: 100, count: 2 },
    });
  });
});

describe("history", () => {
  const day = "from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z";
  const start = Date.parse("2026-01-01T00:00:00Z");

  test("groups tasks into time steps and runs into duration steps", async () => {
    const api = await startApi();
    await create(api.store, "before", {}, start - 1);
    await create(api.store, "first", {}, start);
    await create(api.store, "second", {}, start + 3_600_000);
    await create(api.store, "third", {}, start + 3_600_001);
    await create(api.store, "after", {}, start + 86_400_000);
    await api.store.apply("second", completed(start + 3_602_000));
    const history = await read<StatsHistory>(api, `/v1/stats/history?${day}&buckets=24`, historySchema);
    expect(history).toMatchObject({
      from: "2026-01-01T00:00:00.000Z",
      to: "2026-01-02T00:00:00.000Z",
      bucketMs: 3_600_000,
    });
    const none = { running: 0, completed: 0, error: 0, cancelled: 0, resumed: 0 };
    expect(history.buckets).toEqual([
      { at: "2026-01-01T00:00:00.000Z", byStatus: { ...none, running: 1 } },
      { at: "2026-01-01T01:00:00.000Z", byStatus: { ...none, running: 1, completed: 1 } },
    ]);
    expect(history.durations.filter(({ runs }) => runs > 0)).toEqual([{ below: 5000, runs: 1 }]);
    expect(history.durations.at(-1)?.below).toBeNull();
  });

  test("covers the last day in 48 steps by default", async () => {
    const api = await startApi();
    const history = await read<StatsHistory>(api, "/v1/stats/history", historySchema);
    expect(history.bucketMs).toBe(1_800_000);
    expect(Date.parse(history.to) - Date.parse(history.from)).toBe(86_400_000);
    const backwards = "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z";
    expect(await read<StatsHistory>(api, `/v1/stats/history?${backwards}`, historySchema)).toMatchObject({
      buckets: [],
    });
    const ages = "from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z&buckets=200";
    await read(api, `/v1/stats/history?${ages}`, historySchema);
  });

  test("rejects invalid parameters by name", async () => {
    const api = await startApi();
    for (const [query, name] of [
      ["from=yesterday", "from"],
      ["to=1767225600", "to"],
      ["from=2026-02-30T00:00:00Z", "from"],
      ["buckets=0", "buckets"],
      ["buckets=201", "buckets"],
      ["buckets=many", "buckets"],
    ] as const) {
      const failure = await failureOf(api.ask(`/v1/stats/history?${query}`));
      expect([query, failure.status, failure.details]).toEqual([query, 400, { parameters: [name] }]);
    }
  });
});

describe("health and instances", () => {
  test("health reports that the server is up, since when, and how much it knows", async () => {
    const api = await startApi();
    await create(api.store, "one");
    const health = await read<object>(api, "/v1/health", healthSchema);
    expect(health).toMatchObject({ status: "ok", version: manifest.version, taskCount: 1, pid: process.pid });
  });

  test("instances are those of this process, with their agents", async () => {
    const api = await startApi();
    await api.world.side();
    expect(await read<object[]>(api, "/v1/instances", z.array(instanceSchema))).toEqual([
      {
        id: api.side.id,
        host: "scripted",
        directory: "/work",
        agents: [
          { name: "general", description: null },
          { name: "explore", description: null },
        ],
      },
    ]);
  });
});

describe("any path and method", () => {
  test("a method that a path does not support is rejected with those it supports", async () => {
    const api = await startApi();
    for (const [method, path, allow] of [
      ["PUT", "/v1/tasks", "GET, POST, OPTIONS"],
      ["DELETE", "/v1/tasks/x", "GET, OPTIONS"],
      ["POST", "/v1/tasks/x", "GET, OPTIONS"],
      ["GET", "/v1/tasks/x/cancel", "POST, OPTIONS"],
      ["PATCH", "/v1/events", "GET, OPTIONS"],
      ["POST", "/v1/openapi.json", "GET, OPTIONS"],
      ["POST", "/v1/health", "GET, OPTIONS"],
    ] as const) {
      const answer = await api.ask(path, { method });
      expect([method, path, answer.headers.get("allow")]).toEqual([method, path, allow]);
      expect(await failureOf(answer)).toMatchObject({ status: 405, code: "method_not_allowed" });
    }
  });

  test("an unknown path is a 404 that says where to look", async () => {
    const api = await startApi();
    for (const path of [
      "/v1",
      "/v1/",
      "/v1/task",
      "/v1/tasks/",
      "/v1/tasks/x/y",
      "/v2/tasks",
      "/favicon.ico",
      "/a/b",
    ]) {
      const failure = await failureOf(api.ask(path));
      expect([path, failure.status, failure.code]).toEqual([path, 404, "no_such_path"]);
      expect(failure.message).toContain("/v1/openapi.json");
    }
    expect((await failureOf(api.ask("/v1/nothing", { method: "POST" }))).status).toBe(404);
  });

  test("OPTIONS is answered everywhere, for everyone", async () => {
    const api = await startApi();
    for (const path of ["/v1/tasks", "/v1/events", "/v1/nothing", "/", "/v1/tasks/x/cancel"]) {
      const answer = await api.ask(path, { method: "OPTIONS", headers: { origin: "http://evil.com" } });
      expect([path, answer.status, corsOf(answer), await answer.text()]).toEqual([path, 204, CORS, ""]);
    }
  });

  test("every kind of answer has the same three headers", async () => {
    const api = await startApi();
    const evil = { headers: { origin: "http://evil.com" } };
    for (const [path, init, status] of [
      ["/v1/tasks", {}, 200],
      ["/v1/tasks?limit=x", {}, 400],
      ["/v1/tasks", { method: "POST" }, 401],
      ["/v1/tasks", evil, 403],
      ["/v1/tasks/none", {}, 404],
      ["/v1/stats", { method: "PUT" }, 405],
      ["/v1/openapi.json", {}, 200],
      ["/v1/tasks", { method: "HEAD" }, 200],
    ] as const) {
      const answer = await api.ask(path, init);
      expect([path, answer.status, corsOf(answer)]).toEqual([path, status, CORS]);
      await answer.body?.cancel();
    }
    const page = await api.ask("/");
    expect([[200, 404].includes(page.status), corsOf(page)]).toEqual([true, CORS]);
    const stream = await api.ask("/v1/events");
    expect([stream.headers.get("content-type"), corsOf(stream)]).toEqual(["text/event-stream; charset=utf-8", CORS]);
    await stream.body?.cancel();
  });

  test("an internal error is reported without details, and logged with them", async () => {
    const api = await startApi({
      store: () => ({
        agentTotals: async () => {
          throw new Error("secret inside");
        },
      }),
    });
    const failure = await failureOf(api.ask("/v1/stats"));
    expect(failure).toMatchObject({ status: 500, code: "internal", details: {} });
    expect(failure.message).not.toContain("secret");
    expect(api.logged.join()).toContain("secret inside");
  });
});
