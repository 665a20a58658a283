import { describe, expect, test } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { fail, gate, say } from "../../src/hosts/scripted/script.ts";
import { taskSchema } from "../../src/protocol/tasks.ts";
import { create } from "../../src/testing/sample-task.ts";
import { ended, launch, when } from "../engine/engine-bed.ts";
import { failureOf, startApi, stored } from "./bed/api-bed.ts";
import { rawRequest } from "./bed/raw-request.ts";
import { strict } from "./bed/strict-schema.ts";

const ONE_MEGABYTE = 1024 * 1024;

describe("launch", () => {
  test("a person's task runs, completes, and notifies nobody", async () => {
    const api = await startApi();
    const prompt = api.world.script(say("all done"));
    const answer = await api.post("/v1/tasks", { description: " look ", prompt, agent: "explore", batch: "mine" });
    expect(answer.status).toBe(201);
    const task = strict(taskSchema).parse(await answer.json()) as { id: string };
    expect(task).toMatchObject({ status: "running", description: "look", batchId: "mine", parentSessionID: null });
    const done = await ended(api.side, await stored(api, task.id));
    expect(done).toMatchObject({ status: "completed", run: { result: "all done" }, parentSessionId: "" });
    expect([await api.store.parentsWithNotices(), await api.store.notices("", "pending")]).toEqual([[], []]);
    expect(await api.client.group("mine")).toMatchObject({ total: 1, completed: 1 });
  });

  test("without a group name each has its own group; with the same name they share one", async () => {
    const api = await startApi();
    const body = { description: "x", prompt: api.world.script(gate("never")), agent: "general" };
    const alone = [await api.client.launch(body), await api.client.launch(body)];
    const named = [
      await api.client.launch({ ...body, batch: "b.1" }),
      await api.client.launch({ ...body, batch: "b.1" }),
    ];
    expect(new Set(alone.map(({ batchId }) => batchId)).size).toBe(2);
    expect(named.map(({ batchId }) => batchId)).toEqual(["b.1", "b.1"]);
  });

  test("an invalid launch is rejected by field, and nothing is created", async () => {
    const api = await startApi();
    const good = { description: "x", prompt: "y", agent: "general" };
    for (const [body, code, word] of [
      [{ ...good, agent: "nobody" }, "unknown_agent", "nobody"],
      [{ ...good, prompt: " " }, "invalid_input", "prompt"],
      [{ ...good, description: "" }, "invalid_input", "description"],
      [{ ...good, prompt: 7 }, "invalid_input", "prompt"],
      [{ ...good, prompt: "x".repeat(200_001) }, "invalid_input", "prompt"],
      [{ ...good, agent: null }, "invalid_input", "agent"],
      [{ ...good, agent: "x".repeat(201) }, "invalid_input", "agent"],
      [{ ...good, agent: "x".repeat(201), queue: {} }, "invalid_input", "agent"],
      [{ ...good, host: "x".repeat(201), queue: {} }, "invalid_input", "host"],
      [{ ...good, model: `p/${"x".repeat(199)}`, queue: {} }, "invalid_input", "model"],
      [{ ...good, batch: "a b" }, "invalid_input", "batch"],
      [{ ...good, batch: {} }, "invalid_input", "batch"],
      [{ ...good, directory: [] }, "invalid_input", "directory"],
      [{ prompt: "y", agent: "general" }, "invalid_input", "description is missing"],
      [[], "invalid_input", "body"],
      ["null", "invalid_input", "body"],
      ["{", "invalid_input", "JSON"],
      ["", "invalid_input", "JSON"],
    ] as const) {
      const failure = await failureOf(api.post("/v1/tasks", body));
      expect([body, failure.status, failure.code]).toEqual([body, 400, code]);
      expect(failure.message).toContain(word);
    }
    for (const directory of ["/nowhere", "relative", "/dev/null", "/dev/null/x", `/${"x".repeat(300)}`, "/a\0b", ""]) {
      const nowhere = await failureOf(api.post("/v1/tasks", { ...good, directory }));
      expect([directory, nowhere.status, nowhere.details]).toEqual([directory, 400, { parameter: "directory" }]);
    }
    const elsewhere = await failureOf(api.post("/v1/tasks", { ...good, directory: "/usr" }));
    expect(elsewhere).toMatchObject({ status: 503, code: "host_unavailable", details: { directory: "/usr" } });
    expect([(await api.store.tasks({})).total, await api.store.launches()]).toEqual([0, []]);
  });

  test("a process that serves several directories must be told which one", async () => {
    const api = await startApi({ engines: (side) => [side.engine, side.engine] });
    const failure = await failureOf(api.post("/v1/tasks", { description: "x", prompt: "y", agent: "general" }));
    expect(failure).toMatchObject({ status: 400, details: { parameter: "directory" } });
    expect(failure.message).toContain("/work");
    const named = { description: "x", prompt: "y", agent: "general", directory: "/work" };
    expect((await api.client.launch(named)).directory).toBe("/work");
    const none = await startApi({ engines: () => [] });
    expect((await failureOf(none.post("/v1/tasks", { ...named, directory: undefined }))).status).toBe(400);
  });

  test("a body that is too large is rejected, however it is sent", async () => {
    const api = await startApi();
    const head = ["POST /v1/tasks HTTP/1.1", "Host: localhost", `Authorization: Bearer ${api.token}`];
    const text = (size: number) => JSON.stringify({ description: "x", agent: "nobody", prompt: "y".repeat(size) });
    for (const size of [ONE_MEGABYTE, 3 * ONE_MEGABYTE, 20 * ONE_MEGABYTE]) {
      const failure = await failureOf(api.post("/v1/tasks", text(size)));
      expect([size, failure.status, failure.code]).toEqual([size, 413, "too_large"]);
      const body = text(size);
      const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      const answer = await rawRequest(api.server.port, [...head, "Transfer-Encoding: chunked"], chunks);
      expect([size, answer.status, answer.headers["access-control-allow-origin"]]).toEqual([size, 413, "*"]);
    }
    expect((await failureOf(api.post("/v1/tasks", text(ONE_MEGABYTE - 1000)))).status).toBe(400);
    expect((await failureOf(api.post("/v1/tasks", text(3 * ONE_MEGABYTE), { authorization: "" }))).status).toBe(401);
    expect(api.logged).toEqual([]);
  });
});

describe("remove", () => {
  test("an ended task is gone for good; a live one, an unknown one and an agent's wish are refused", async () => {
    const api = await startApi();
    const task = await api.client.launch({
      description: "x",
      prompt: api.world.script(gate("never")),
      agent: "general",
    });
    expect(await failureOf(api.post(`/v1/tasks/${task.id}/remove`, {}))).toMatchObject({ code: "task_running" });
    await api.client.cancel(task.id);
    const agent = createClient({ url: api.url, token: api.token, origin: { door: "person", depth: 1 } });
    await expect(agent.remove(task.id)).rejects.toMatchObject({ code: "not_allowed" });
    expect(await api.client.remove(task.id)).toMatchObject({ id: task.id, removed: { tasks: 1, runs: 1 } });
    expect(await failureOf(api.post(`/v1/tasks/${task.id}/remove`, {}))).toMatchObject({
      status: 404,
      code: "task_not_found",
    });
    expect((await api.client.tasks({})).total).toBe(0);
  });
});

describe("cancel", () => {
  test("a live task is cancelled; an ended one is rejected", async () => {
    const api = await startApi();
    const task = await api.client.launch({
      description: "x",
      prompt: api.world.script(gate("never")),
      agent: "general",
    });
    expect(await api.client.cancel(task.id)).toMatchObject({ status: "cancelled", error: "cancelled by a person" });
    const failure = await failureOf(api.post(`/v1/tasks/${task.id}/cancel`, {}));
    expect(failure).toMatchObject({ status: 409, code: "task_not_live" });
    expect((await failureOf(api.post("/v1/tasks/none/cancel", {}))).code).toBe("task_not_found");
  });

  test("needs no body", async () => {
    const api = await startApi();
    const task = await api.client.launch({
      description: "x",
      prompt: api.world.script(gate("never")),
      agent: "general",
    });
    expect((await api.post(`/v1/tasks/${task.id}/cancel`, "")).status).toBe(200);
  });

  test("any parent's task can be cancelled, and that parent is notified", async () => {
    const api = await startApi();
    const parent = api.world.parent();
    const task = await launch(api.side, parent, api.world.script(gate("never")));
    expect((await api.client.cancel(task.id)).status).toBe("cancelled");
    expect((await api.store.parentsWithNotices()).length + api.world.told(parent).length).toBeGreaterThan(0);
  });

  test("a task that another process runs is cancelled through the store", async () => {
    const api = await startApi();
    const other = await api.world.side();
    const task = await launch(other, api.world.parent(), api.world.script(gate("never")));
    await other.host.gate("never").reachedBy(1);
    expect(await api.client.cancel(task.id)).toMatchObject({ status: "cancelled" });
    expect((await stored(api, task.id)).run.error).toBe("cancelled on request");
  });

  test("a task of a dead process in a directory that no process serves cannot be cancelled", async () => {
    const api = await startApi();
    await create(api.store, "lost", { directory: "/gone", owner: "ins_dead" });
    const failure = await failureOf(api.post("/v1/tasks/lost/cancel", {}));
    expect(failure).toMatchObject({ status: 503, code: "host_unavailable" });
    expect(failure.message).toContain("/gone");
  });
});

describe("resume", () => {
  test("a completed task continues with a new prompt", async () => {
    const api = await startApi();
    const prompt = api.world.script(say("one"), gate("door"), say("two"));
    const task = await api.client.launch({ description: "x", prompt, agent: "general" });
    await ended(api.side, await stored(api, task.id));
    const again = await api.client.resume(task.id, "go on");
    expect(again).toMatchObject({ status: "resumed", resumeCount: 1, prompt: "go on", result: null });
    expect(await failureOf(api.post(`/v1/tasks/${task.id}/resume`, { prompt: "more" }))).toMatchObject({
      status: 409,
      code: "task_resuming",
    });
    api.side.host.gate("door").open();
    const done = await when(api.side, await stored(api, task.id), ({ status }) => status === "completed");
    expect(done.run).toMatchObject({ number: 1, result: "two" });
  });

  test("a task that cannot continue is rejected and unchanged", async () => {
    const api = await startApi();
    const start = (prompt: string) => api.client.launch({ description: "x", prompt, agent: "general" });
    const live = await start(api.world.script(gate("never")));
    const bad = await start(api.world.script(fail("no credit")));
    const gone = await start(api.world.script(say("x")));
    for (const { id } of [bad, gone]) await ended(api.side, await stored(api, id));
    await api.side.host.deleteSession(gone.sessionID);
    for (const [id, body, status, code] of [
      [live.id, { prompt: "x" }, 409, "task_running"],
      [bad.id, { prompt: "x" }, 409, "task_not_resumable"],
      [gone.id, { prompt: "x" }, 410, "session_gone"],
      [gone.id, { prompt: "" }, 400, "invalid_input"],
      [gone.id, {}, 400, "invalid_input"],
      ["none", { prompt: "x" }, 404, "task_not_found"],
    ] as const) {
      expect(await failureOf(api.post(`/v1/tasks/${id}/resume`, body))).toMatchObject({ status, code });
    }
    expect((await stored(api, bad.id)).run.number).toBe(0);
  });
});
