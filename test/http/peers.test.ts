import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { markerOf } from "../../src/hosts/scripted/script.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { create } from "../../src/testing/sample-task.ts";
import { type Api, CORS, corsOf, failureOf, startApi } from "./bed/api-bed.ts";
import { type ApiChild, startChild } from "./bed/api-child.ts";

const HELD = markerOf("held");
const SHORT = markerOf("short");

async function pair(): Promise<{ api: Api; child: ApiChild }> {
  const api = await startApi();
  return { api, child: await startChild(api.world) };
}

function ended(api: Api, id: string) {
  return eventually(api.store, async () => {
    const task = await api.store.task(id);
    return task && task.phase === null ? task : null;
  });
}

describe("what only another process can do", () => {
  test("a launch in its directory and a resume there are forwarded to it", async () => {
    const { api, child } = await pair();
    const task = await api.client.launch({
      description: "x",
      prompt: SHORT,
      agent: "general",
      directory: "/other",
      batch: "b",
    });
    expect(task).toMatchObject({ directory: "/other", batchId: "b", status: "running" });
    const done = await ended(api, task.id);
    expect(done.run.result).toBe(`said by ${child.pid}`);
    expect(await api.client.resume(task.id, SHORT)).toMatchObject({ status: "resumed", resumeCount: 1 });
    expect((await ended(api, task.id)).run).toMatchObject({ number: 1, result: `said by ${child.pid}` });
  });

  test("an answer is forwarded to the process that runs the task", async () => {
    const { api, child } = await pair();
    const task = await child.client.launch({ description: "x", prompt: markerOf("asking"), agent: "general" });
    await eventually(api.store, async () => ((await api.store.task(task.id))?.phase === "waiting" ? true : null));
    await api.client.answer(task.id, { kind: "permission", decision: "once" });
    expect((await ended(api, task.id)).run.result).toBe("thanks");
  });

  test("the conversation of a task that it runs is read there", async () => {
    const { api, child } = await pair();
    const task = await child.client.launch({ description: "x", prompt: HELD, agent: "general" });
    await eventually(api.store, async () => ((await api.store.task(task.id))?.progress.toolCalls === 1 ? true : null));
    const { messages } = await api.client.logs(task.id);
    expect(JSON.stringify(messages)).toContain("sk-secret");
    const page = await api.ask(`/v1/tasks/${task.id}/logs?limit=1`);
    expect([page.headers.get("x-next-cursor"), corsOf(page)]).toEqual([expect.any(String), CORS]);
    expect(((await page.json()) as unknown[]).length).toBe(1);
    await child.kill();
    expect((await failureOf(api.ask(`/v1/tasks/${task.id}/logs`))).code).toBe("session_gone");
  });

  test("its errors come back unchanged", async () => {
    const { api } = await pair();
    const launch = { description: "x", prompt: "x", agent: "nobody", directory: "/other" };
    expect(await failureOf(api.post("/v1/tasks", launch))).toMatchObject({ status: 400, code: "unknown_agent" });
    const task = await api.client.launch({ ...launch, agent: "general", prompt: HELD });
    const failure = await failureOf(api.post(`/v1/tasks/${task.id}/resume`, { prompt: "more" }));
    expect(failure).toMatchObject({ status: 409, code: "task_running" });
  });

  test("a cancel request goes through the store, without its server", async () => {
    const { api, child } = await pair();
    const task = await child.client.launch({ description: "x", prompt: HELD, agent: "general" });
    rmSync(join(api.world.directory, "servers", `${child.pid}.json`));
    expect(await api.client.cancel(task.id)).toMatchObject({ status: "cancelled", error: "cancelled on request" });
  });

  test("what one process writes appears in the other's list and stream", async () => {
    const { api, child } = await pair();
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const event of api.client.events({ signal: stop.signal })) {
      seen.push(event.type);
      if (event.type === "snapshot")
        await child.client.launch({ description: "there", prompt: SHORT, agent: "general" });
      if (event.type === "task.completed") {
        expect(event.task).toMatchObject({ description: "there", status: "completed" });
        stop.abort();
      }
    }
    expect([seen[0], seen[1], seen.at(-1)]).toEqual(["snapshot", "task.created", "task.completed"]);
    expect((await api.client.tasks()).tasks[0]?.description).toBe("there");
  });
});

describe("a forwarded request", () => {
  test("is not forwarded again", async () => {
    const { api } = await pair();
    const forwarded = { "x-asyncagents-forwarded": "1" };
    const body = { description: "x", prompt: "x", agent: "general", directory: "/other" };
    const launch = await failureOf(api.post("/v1/tasks", body, forwarded));
    expect(launch).toMatchObject({ status: 503, code: "host_unavailable" });
    const task = await api.client.launch({ ...body, prompt: HELD });
    expect((await failureOf(api.post(`/v1/tasks/${task.id}/resume`, { prompt: "x" }, forwarded))).status).toBe(503);
    // The other process's sessions are unknown here, so this shows that it was read in this process.
    const logs = await failureOf(api.ask(`/v1/tasks/${task.id}/logs`, { headers: forwarded }));
    expect(logs.code).toBe("session_gone");
  });

  test("to a process whose server is gone is a clear 503", async () => {
    const api = await startApi();
    const { directory } = api.world;
    const child = await startChild(api.world, directory);
    const body = { description: "x", prompt: "x", agent: "general", directory };
    rmSync(join(api.world.directory, "servers", `${child.pid}.json`));
    const silent = await failureOf(api.post("/v1/tasks", body));
    expect(silent).toMatchObject({ status: 503, code: "host_unavailable", details: { pid: child.pid } });
    expect(silent.message).toContain("ASYNCAGENTS_API_ENABLED");
    await child.kill();
    const dead = await failureOf(api.post("/v1/tasks", body));
    expect(dead).toMatchObject({ status: 503, code: "host_unavailable", details: { directory } });
    expect((await api.store.tasks({})).total).toBe(0);
  });

  test("for the conversation of a dead process is answered by any process with the same host", async () => {
    const api = await startApi();
    const session = api.side.host.openSession("x");
    await create(api.store, "orphan", { sessionId: session, directory: "/gone", owner: "ins_dead" });
    expect((await api.client.logs("orphan")).messages).toEqual([]);
    await create(api.store, "foreign", { host: "other", directory: "/gone", owner: "ins_dead" });
    expect(await failureOf(api.ask("/v1/tasks/foreign/logs"))).toMatchObject({ status: 503, code: "host_unavailable" });
  });
});
