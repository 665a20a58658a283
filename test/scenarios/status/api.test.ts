/**
 * The status API on the real OpenCode: lists, details, conversations, groups, figures, and the headers of every
 * answer.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { messageSchema } from "../../../src/protocol/conversations.ts";
import { healthSchema } from "../../../src/protocol/server.ts";
import { groupSchema, statsSchema } from "../../../src/protocol/statistics.ts";
import { taskListSchema, taskSchema } from "../../../src/protocol/tasks.ts";
import { call, fail, gate, say } from "../../../src/testing/models/script.ts";
import { type Api, type Parent, World } from "../world.ts";

const SECRET = "sk-live-4242424242 password=hunter2";
/** Longer than the text that lists and events carry. */
const LONG = "x".repeat(10_000);
/** Says the secret, and more than a list would carry. */
const COMMAND = `echo '${SECRET}'; printf '%020000d' 7`;
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, OPTIONS",
  "access-control-allow-headers": "Content-Type",
};

let world: World;
let api: Api;
let parent: Parent;
/** One task of each kind, all in one batch. */
const tasks = { completed: "", error: "", cancelled: "", running: "", resumed: "" };
let batch = "";

async function get(path: string, init?: RequestInit): Promise<Response> {
  return fetch(`${api.url}${path}`, init);
}

async function json<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.infer<Schema>> {
  const response = await get(path);
  expect([path, response.status]).toEqual([path, 200]);
  return schema.parse(await response.json());
}

const list = (query = "") => json(`/v1/tasks${query}`, taskListSchema);
const ids = (page: z.infer<typeof taskListSchema>) => page.tasks.map(({ id }) => id);

/** An error answer: its status, its type and its body. */
async function refusal(path: string): Promise<unknown[]> {
  const response = await get(path);
  return [response.status, response.headers.get("content-type"), await response.json()];
}
const notFound = (code: string) => [404, expect.stringMatching(/^application\/json\b/), { error: { code } }];

beforeAll(async () => {
  world = await World.start();
  api = await world.api();
  parent = await world.parent();
  const explore = { description: "Explore 100% of the Ünïcode parser", agent: "explore" };
  const launches = [
    {
      description: "reads a file",
      steps: [call("bash", { command: COMMAND, description: "says it" }), say("All read.")],
    },
    { description: "fails on a file", steps: [fail(400, "no credit left")] },
    { description: "stopped", steps: [gate("api-never"), say("x")] },
    { ...explore, steps: [call("read", { filePath: "notes.txt" }), gate("api-running"), say("found")] },
    { description: "comes back", steps: [say("first"), gate("api-resumed"), say("second")] },
  ];
  const answers = await parent.askAll(
    launches.map(({ steps, ...input }) => ({
      name: "task",
      input: { agent: "general", prompt: `${world.script(...steps)} ${SECRET} ${LONG} work`, ...input },
    })),
  );
  const found = answers.map((answer) => /ses_\w+/.exec(answer)?.[0] ?? "");
  [tasks.completed = "", tasks.error = "", tasks.cancelled = "", tasks.running = "", tasks.resumed = ""] = found;
  batch = (await world.task(tasks.completed)).batchId;
  for (const id of [tasks.completed, tasks.error, tasks.resumed]) await world.ended(id);
  await parent.ask("cancel", { task_id: tasks.cancelled });
  await parent.ask("task", { resume: tasks.resumed, prompt: "go on" });
  await world.until(tasks.resumed, ({ status }) => status === "resumed");
  await world.until(tasks.running, ({ progress }) => progress.toolCalls === 1);
  await world.model.gate("api-running").reachedBy(1);
  await world.model.gate("api-resumed").reachedBy(1);
});
afterAll(() => world?.stop());

describe("the list", () => {
  test("all tasks, newest first, with total, limit and offset [AT-17.1, AT-17.6]", async () => {
    const page = await list();
    expect(ids(page).toSorted()).toEqual(Object.values(tasks).toSorted());
    expect([page.total, page.limit, page.offset]).toEqual([5, 50, 0]);
    expect((await list("?limit=1")).total).toBe(5);
    expect(page.tasks.map(({ startedAt }) => startedAt)).toEqual(
      page.tasks
        .map(({ startedAt }) => startedAt)
        .toSorted()
        .toReversed(),
    );
  });

  test("by status [AT-17.2]", async () => {
    const running = await list("?status=running");
    expect([ids(running), running.total]).toEqual([[tasks.running], 1]);
    expect((await list("?status=completed,error&limit=1")).total).toBe(2);
    expect((await get("/v1/tasks?status=sleeping")).status).toBe(400);
  });

  test("by agent [AT-17.3]", async () => {
    const explore = await list("?agent=explore");
    expect([ids(explore), explore.total]).toEqual([[tasks.running], 1]);
    expect((await list("?agent=general")).total).toBe(4);
    expect((await list("?agent=general&limit=1")).total).toBe(4);
  });

  test("by a word of the description, case-insensitively [AT-17.4]", async () => {
    for (const word of ["100% of", "ÜNÏCODE", "explore", "se"]) {
      const found = await list(`?search=${encodeURIComponent(word)}`);
      expect([word, found.tasks.some(({ id }) => id === tasks.running)]).toEqual([word, true]);
    }
    const found = await list("?search=PARSER");
    expect([ids(found), found.total]).toEqual([[tasks.running], 1]);
    // A full page: the total is counted, not seen.
    expect((await list("?search=FILE&limit=1")).total).toBe(2);
    for (const word of ["1000", "general", "work"])
      expect([word, (await list(`?search=${word}`)).total]).toEqual([word, 0]);
  });

  test("in pages, with the full total [AT-17.5]", async () => {
    const all = ids(await list());
    const page = await list("?limit=2&offset=3");
    expect([ids(page), page.total, page.limit, page.offset]).toEqual([all.slice(3, 5), 5, 2, 3]);
    expect(ids(await list("?limit=2&offset=1"))).toEqual(all.slice(1, 3));
  });

  test("limits: more than 200 becomes 200; anything but a whole number is rejected by name [AT-F-02]", async () => {
    expect((await list()).limit).toBe(50);
    for (const large of ["201", "9".repeat(400)]) expect((await list(`?limit=${large}`)).limit).toBe(200);
    expect((await list(`?offset=${"9".repeat(400)}`)).tasks).toEqual([]);
    expect((await list("?limit=0")).tasks).toEqual([]);
    for (const name of ["limit", "offset"]) {
      for (const value of ["-1", "ten", "1.5", ""]) {
        const response = await get(`/v1/tasks?${name}=${value}`);
        const body = (await response.json()) as { error: { message: string } };
        expect([name, value, response.status, body.error.message]).toEqual([
          name,
          value,
          400,
          expect.stringContaining(name),
        ]);
      }
    }
  });
});

describe("one task", () => {
  test("the whole task by its id [AT-18.1]", async () => {
    const task = await json(`/v1/tasks/${tasks.completed}`, z.strictObject(taskSchema.shape));
    expect(task).toMatchObject({
      id: tasks.completed,
      sessionID: tasks.completed,
      parentSessionID: parent.sessionId,
      parentAgent: "build",
      description: "reads a file",
      agent: "general",
      status: "completed",
      result: "All read.",
      error: null,
      batchId: batch,
      resumeCount: 0,
      isForked: false,
      shortened: [],
    });
    const stored = await world.task(tasks.completed);
    expect(task).toMatchObject({
      parentMessageID: stored.parentMessageId,
      model: stored.model,
      host: "opencode",
      directory: world.opencode.directory,
      phase: null,
      run: { number: 0, startedAt: task.startedAt, endedAt: task.completedAt },
    });
    expect(task.parentMessageID).toStartWith("msg_");
    expect(task.prompt).toEndWith(` ${LONG} work`);
    expect(task.progress.tokens).toEqual(stored.progress.tokens);
    expect(task.progress.tokens.input).toBeGreaterThan(0);
    expect(task.progress).toMatchObject({ toolCalls: 1, toolCallsByName: { bash: 1 }, lastTools: ["bash"] });
    expect(Date.parse(task.completedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(task.startedAt));
    expect((await json(`/v1/tasks/${tasks.error}`, taskSchema)).error).toContain("no credit left");
  });

  test("an unknown id is a 404 in JSON [AT-18.2]", async () => {
    expect(await refusal("/v1/tasks/ses_unknown")).toMatchObject(notFound("task_not_found"));
  });
});

describe("its conversation", () => {
  const logs = (id: string) => json(`/v1/tasks/${id}/logs`, z.array(z.strictObject(messageSchema.shape)));

  test("of a running task: everything so far, unmasked [AT-19.1]", async () => {
    const messages = await logs(tasks.running);
    expect(messages[0]?.role).toBe("user");
    expect(messages[0]?.parts).toContainEqual(expect.objectContaining({ text: expect.stringContaining(SECRET) }));
    // The answer that is being written is included too.
    const theirs = await world.opencode.messages(tasks.running);
    expect(messages.map(({ id, endedAt }) => [id, endedAt === null])).toEqual(
      theirs.map(({ info }) => [info.id, info.role === "user" || info.time.completed === undefined]),
    );
    expect(messages.at(-1)).toMatchObject({ role: "assistant", endedAt: null });
    const tools = messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool"));
    expect(tools).toMatchObject([{ name: "read", state: "completed", output: expect.stringContaining("beta") }]);
  });

  test("of a completed task: all of it, with unchanged tool input and output [AT-19.2, AT-F-04]", async () => {
    const messages = await logs(tasks.completed);
    const parts = messages.flatMap((message) => message.parts);
    const tool = parts.find((part) => part.type === "tool");
    expect(tool?.input).toMatchObject({ command: COMMAND });
    expect(tool?.output).toContain(SECRET);
    expect(tool?.output).toContain("7".padStart(20_000, "0"));
    expect(messages.at(-1)?.parts).toContainEqual({ type: "text", text: "All read.", hidden: false });
    const theirs = await world.opencode.messages(tasks.completed);
    expect(messages.map(({ id, parts: own }) => [id, own.length])).toEqual(
      theirs.map(({ info, parts: own }) => [info.id, own.length]),
    );
  });

  test("of any length [AT-19.2, AT-F-04]", async () => {
    for (let number = 0; number < 110; number++) {
      await world.opencode.prompt(tasks.error, `more ${number}`, { noReply: true });
    }
    const theirs = await world.opencode.messages(tasks.error);
    expect(theirs.length).toBeGreaterThan(110);
    expect((await logs(tasks.error)).map(({ id }) => id)).toEqual(theirs.map(({ info }) => info.id));
  });

  test("in pages [AT-19.2]", async () => {
    const all = (await logs(tasks.completed)).map(({ id }) => id);
    const last = await api.client.logs(tasks.completed, { limit: 1 });
    expect([last.messages.map(({ id }) => id), last.before === null]).toEqual([all.slice(-1), false]);
    const earlier = await api.client.logs(tasks.completed, { limit: 100, before: last.before ?? "" });
    expect([...earlier.messages, ...last.messages].map(({ id }) => id)).toEqual(all);
  });

  test("of an unknown task: 404 in JSON [AT-19.3]", async () => {
    expect(await refusal("/v1/tasks/ses_unknown/logs")).toMatchObject(notFound("task_not_found"));
  });
});

describe("a group", () => {
  test("its tasks and totals, with a task in every state [AT-20.1, AT-F-03]", async () => {
    const asked = Date.now();
    const group = await json(`/v1/task-groups/${batch}`, z.strictObject(groupSchema.shape));
    expect(group.tasks.map(({ id }) => id).toSorted()).toEqual(Object.values(tasks).toSorted());
    expect(group).toMatchObject({ completed: 1, running: 2, error: 1, cancelled: 1, total: 5, completionRate: 0.2 });
    expect(group.totalToolCalls).toBe(2);
    expect(group.runs.filter(({ taskId }) => taskId === tasks.resumed).map(({ number }) => number)).toEqual([0, 1]);
    const first = Math.min(...group.tasks.map(({ startedAt }) => Date.parse(startedAt)));
    // Some of them are live: it lasts until now.
    expect(group.duration).toBeGreaterThanOrEqual(asked - first);
    expect(group.duration).toBeLessThanOrEqual(Date.now() - first);
    expect(group.endedAt).toBeNull();
  });

  test("an unknown one is a 404 in JSON [AT-20.2]", async () => {
    expect(await refusal("/v1/task-groups/bat_unknown")).toMatchObject(notFound("group_not_found"));
  });
});

describe("health and figures", () => {
  test("health reports that the server is up, since when, and how many tasks there are [AT-22.1, AT-F-05]", async () => {
    const { startedAt } = JSON.parse(readFileSync(join(world.storage, "server.json"), "utf8"));
    const secondsSince = (time: string) => (Date.now() - Date.parse(time)) / 1000;
    const least = secondsSince(startedAt);
    const before = await json("/v1/health", z.strictObject(healthSchema.shape));
    const most = secondsSince(startedAt);
    const after = await json("/v1/health", healthSchema);
    const { version } = (await import("../../../package.json")) as { version: string };
    expect(before).toMatchObject({ status: "ok", version, taskCount: 5, pid: world.opencode.pid });
    expect(before.uptime).toBeGreaterThanOrEqual(least);
    expect(before.uptime).toBeLessThanOrEqual(most);
    expect(after.uptime).toBeGreaterThanOrEqual(before.uptime);
  });

  test("stats count by status and by agent [AT-22.2, AT-F-05]", async () => {
    const stats = await json("/v1/stats", z.strictObject(statsSchema.shape));
    expect(stats.byStatus).toEqual({ running: 1, completed: 1, error: 1, cancelled: 1, resumed: 1 });
    expect(stats.byAgent).toEqual({ explore: 1, general: 4 });
  });

  test("stats report the durations of runs, and how many tasks there are [AT-22.3, AT-F-05]", async () => {
    const stats = await json("/v1/stats", statsSchema);
    const runs = (await Promise.all(Object.values(tasks).map((id) => world.store.runs(id)))).flat();
    const durations = runs.flatMap(({ startedAt, endedAt }) => (endedAt === null ? [] : [endedAt - startedAt]));
    expect(durations).toHaveLength(4);
    expect(stats.duration).toEqual({
      avg: expect.closeTo(durations.reduce((sum, each) => sum + each, 0) / 4, 3),
      max: Math.max(...durations),
      min: Math.min(...durations),
      count: 4,
    });
    expect([stats.totalTasks, stats.activeTasks]).toEqual([5, 2]);
  });
});

describe("headers", () => {
  test("every answer has the three CORS headers [AT-23.1, AT-F-06]", async () => {
    const stream = new AbortController();
    const answers: [number, Response][] = [
      [200, await get("/v1/tasks")],
      [204, await get("/v1/tasks", { method: "OPTIONS" })],
      [400, await get("/v1/tasks?limit=x")],
      [401, await get(`/v1/tasks/${tasks.running}/cancel`, { method: "POST" })],
      [403, await get("/v1/tasks", { headers: { origin: "https://example.com" } })],
      [404, await get("/v1/nothing")],
      [405, await get("/v1/stats", { method: "DELETE" })],
      [200, await get("/v1/events", { signal: stream.signal })],
      [200, await get("/")],
    ];
    for (const [status, response] of answers) {
      const headers = Object.fromEntries(Object.keys(CORS).map((name) => [name, response.headers.get(name)]));
      expect([response.url, response.status, headers]).toEqual([response.url, status, CORS]);
    }
    stream.abort();
  });

  test("OPTIONS is answered with 204 everywhere [AT-23.2]", async () => {
    for (const path of ["/", "/v1/tasks", "/v1/tasks/x/logs", "/v1/events", "/anything"]) {
      const response = await get(path, { method: "OPTIONS" });
      expect([path, response.status, await response.text()]).toEqual([path, 204, ""]);
      for (const [name, value] of Object.entries(CORS))
        expect([path, response.headers.get(name)]).toEqual([path, value]);
    }
  });
});

describe("a person", () => {
  test("launches a task without a parent to notify, resumes it, and cancels one", async () => {
    const { client } = api;
    const [instance] = await client.instances();
    expect([instance?.directory, instance?.agents.some(({ name }) => name === "general")]).toEqual([
      world.opencode.directory,
      true,
    ]);
    const prompt = `${world.script(say("by hand"), say("again"))} go`;
    const launched = await client.launch({ description: "from a page", prompt, agent: "general" });
    expect(launched).toMatchObject({ parentSessionID: null, status: "running" });
    expect((await world.ended(launched.id)).run.result).toBe("by hand");
    expect(await client.resume(launched.id, "once more")).toMatchObject({ status: "resumed", resumeCount: 1 });
    expect((await world.ended(launched.id)).run.result).toBe("again");
    const held = await client.launch({
      description: "held",
      prompt: `${world.script(gate("hand"), say("x"))} go`,
      agent: "general",
    });
    await world.model.gate("hand").reachedBy(1);
    expect(await client.cancel(held.id)).toMatchObject({ status: "cancelled" });
    expect(await world.store.parentsWithNotices()).toEqual([]);
  });
});

describe("a group that has ended", () => {
  test("lasted from its first start to its last end; tasks of other batches are not in it [AT-20.1, AT-F-03]", async () => {
    for (const name of ["api-running", "api-resumed"]) world.model.gate(name).open();
    for (const id of Object.values(tasks)) await world.ended(id);
    await world.settled();
    await world.opencode.waitIdle(parent.sessionId);
    await world.ended(await (await world.parent()).launch([say("elsewhere")]));
    const group = await json(`/v1/task-groups/${batch}`, groupSchema);
    expect(group.tasks.map(({ id }) => id).toSorted()).toEqual(Object.values(tasks).toSorted());
    expect(group).toMatchObject({ completed: 3, running: 0, error: 1, cancelled: 1, total: 5, completionRate: 0.6 });
    const ends = group.tasks.map(({ completedAt }) => completedAt ?? "");
    const first = Math.min(...group.tasks.map(({ startedAt }) => Date.parse(startedAt)));
    expect(group.endedAt).toBe(ends.toSorted().at(-1) ?? "");
    expect(group.duration).toBe(Date.parse(group.endedAt ?? "") - first);
  });
});

describe("after a restart", () => {
  test("the earlier tasks are there, complete, beside new ones [AT-25.1, AT-25.2, AT-25.3]", async () => {
    for (const name of ["api-running", "api-resumed"]) world.model.gate(name).open();
    await world.ended(tasks.running);
    await world.ended(tasks.resumed);
    await world.settled();
    await world.opencode.waitIdle(parent.sessionId);
    const before = new Map<string, unknown>();
    for (const id of Object.values(tasks)) before.set(id, await api.client.task(id));
    await world.opencode.restart();
    api = await world.api();
    for (const [id, task] of before) expect(await api.client.task(id)).toEqual(task as never);
    expect(await api.client.task(tasks.completed)).toMatchObject({
      status: "completed",
      result: "All read.",
      completedAt: expect.any(String),
      progress: { toolCalls: 1, toolCallsByName: { bash: 1 } },
    });
    expect(await api.client.task(tasks.error)).toMatchObject({
      status: "error",
      error: expect.stringContaining("no credit left"),
      completedAt: expect.any(String),
    });
    const known = (await list()).total;
    const later = await (await world.parent()).launch([say("new")], { description: "after the restart" });
    await world.ended(later);
    const page = await list();
    expect(page.total).toBe(known + 1);
    expect(ids(page)).toEqual(expect.arrayContaining([later, ...Object.values(tasks)]));
  });
});

describe("many tasks", () => {
  test("50 by default, 200 at most, the 21st to the 30th, and always the full total [AT-17.1, AT-17.5, AT-17.6, AT-F-02]", async () => {
    const task = await world.task(tasks.cancelled);
    await world.store.write(async (transaction) => {
      for (let number = 0; number < 210; number++) {
        const id = `ses_many${number}`;
        await transaction.apply(id, { type: "task.imported", at: Date.now(), task: { ...task, id, sessionId: id } });
      }
    });
    const most = await list("?limit=1000");
    const { total } = most;
    expect(total).toBeGreaterThanOrEqual(215);
    expect([most.tasks.length, most.limit]).toEqual([200, 200]);
    const page = await list();
    expect([ids(page), page.total]).toEqual([ids(most).slice(0, 50), total]);
    const later = await list("?limit=10&offset=20");
    expect([ids(later), later.total]).toEqual([ids(most).slice(20, 30), total]);
  });
});
