import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { CallPatience } from "../../src/engine/remote/remote-calls.ts";
import { markerOf } from "../../src/hosts/scripted/script.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { create } from "../../src/testing/sample-task.ts";
import { type Api, CORS, corsOf, failureOf, startApi } from "./bed/api-bed.ts";
import { type ApiChild, startChild } from "./bed/api-child.ts";

const HELD = markerOf("held");
const SHORT = markerOf("short");

const GRANT = { kind: "permission", decision: "once" } as const;

async function pair(patience?: CallPatience): Promise<{ api: Api; child: ApiChild }> {
  const api = await startApi(patience && { patience });
  return { api, child: await startChild(api.world) };
}

function ended(api: Api, id: string) {
  return eventually(api.store, async () => {
    const task = await api.store.task(id);
    return task && task.phase === null ? task : null;
  });
}

describe("what only another process can do", () => {
  test("a launch in its directory and a resume there are performed by it", async () => {
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

  test("an answer goes to the process that runs the task", async () => {
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

/** A task of the other process that waits for a permission. */
async function asking(api: Api, child: ApiChild): Promise<string> {
  const { id } = await child.client.launch({ description: "x", prompt: markerOf("asking"), agent: "general" });
  await waits(api, id);
  return id;
}

function waits(api: Api, id: string) {
  return eventually(api.store, async () => ((await api.store.task(id))?.phase === "waiting" ? true : null));
}

/** Every call that is stored, by whichever process. */
function storedCalls(api: Api): { state: string; made_by: string }[] {
  const database = new Database(join(api.world.directory, "asyncagents.db"), { readonly: true });
  const rows = database.query<{ state: string; made_by: string }, []>("select state, made_by from remote_calls").all();
  database.close();
  return rows;
}

describe("a call of another process", () => {
  test("needs no server there", async () => {
    const { api, child } = await pair();
    const id = await asking(api, child);
    rmSync(join(api.world.directory, "servers", `${child.pid}.json`));
    await api.client.answer(id, GRANT);
    expect((await ended(api, id)).run.result).toBe("thanks");
    await eventually(api.store, async () => (storedCalls(api).length === 0 ? true : null));
  });

  test("carries the caller: an agent may not give a permission, nor launch", async () => {
    const { api, child } = await pair();
    const id = await asking(api, child);
    const performed = api.store.calls;
    const sent = { id, input: GRANT, origin: { door: "model", depth: 1 } };
    for (const [operation, input] of [
      ["answer", sent],
      ["launch", { ...sent, id: "", input: { description: "x", prompt: SHORT } }],
      ["resume", { ...sent, input: { prompt: SHORT } }],
    ] as const) {
      const call = {
        id: operation,
        to: `ins_of_${child.pid}`,
        operation,
        input: JSON.stringify(input),
        madeBy: "test",
      };
      await performed.ask(call, { now: Date.now(), patience: 60_000 });
      const answer = await eventually(
        api.store,
        async () => (await performed.progress([operation]))[0]?.answer ?? null,
      );
      expect(JSON.parse(answer)).toMatchObject({
        error: { code: operation === "answer" ? "not_allowed" : expect.any(String) },
      });
    }
    expect((await api.store.task(id))?.phase).toBe("waiting");
  });

  test("is checked there: unknown operations, wrong input and other fields are rejected", async () => {
    const { api, child } = await pair();
    const origin = { door: "person", depth: 0 };
    for (const [operation, input, code] of [
      ["pageToken", { id: "", input: {}, origin }, "no_such_path"],
      ["constructor", { id: "", input: {}, origin }, "no_such_path"],
      ["list_projects", { id: "", input: {}, origin }, "no_such_path"],
      ["launch", { id: "", input: { description: 1 }, origin }, "invalid_input"],
      ["resume", { id: "none", input: { prompt: "x" }, origin }, "task_not_found"],
      ["resume", { id: "none", input: { prompt: "x" }, origin: { door: "root", depth: 0 } }, "invalid_input"],
      ["resume", "nonsense", "invalid_input"],
    ] as const) {
      const id = crypto.randomUUID();
      const call = { id, to: `ins_of_${child.pid}`, operation, input: JSON.stringify(input), madeBy: "test" };
      await api.store.calls.ask(call, { now: Date.now(), patience: 60_000 });
      const answer = await eventually(api.store, async () => (await api.store.calls.progress([id]))[0]?.answer ?? null);
      expect([operation, JSON.parse(answer).error.code]).toEqual([operation, code]);
    }
  });

  test("is not passed on", async () => {
    const { api, child } = await pair();
    const third = await startChild(api.world, "/third");
    const input = {
      id: "",
      input: { description: "x", prompt: "x", directory: "/third" },
      origin: { door: "person", depth: 0 },
    };
    const call = {
      id: "c",
      to: `ins_of_${child.pid}`,
      operation: "launch",
      input: JSON.stringify(input),
      madeBy: "test",
    };
    await api.store.calls.ask(call, { now: Date.now(), patience: 60_000 });
    const answer = await eventually(api.store, async () => (await api.store.calls.progress(["c"]))[0]?.answer ?? null);
    expect(JSON.parse(answer).error).toMatchObject({ code: "host_unavailable", details: { pid: third.pid } });
    expect((await api.store.tasks({})).total).toBe(0);
  });

  test("of two that answer at once, one counts and the other is told so", async () => {
    const { api, child } = await pair();
    const third = await startChild(api.world, "/third");
    const id = await asking(api, child);
    const settled = await Promise.allSettled([api.client.answer(id, GRANT), third.client.answer(id, GRANT)]);
    expect(settled.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(settled.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "nothing_asked" } });
    expect((await ended(api, id)).run.result).toBe("thanks");
  });
});

describe("if a process dies or freezes", () => {
  test("before it takes the call, nothing was done, and the caller is told so", async () => {
    const { api, child } = await pair({ claimMs: 60_000, answerMs: 60_000, checkMs: 50 });
    const id = await asking(api, child);
    process.kill(child.pid, "SIGSTOP");
    const failure = failureOf(api.post(`/v1/tasks/${id}/answer`, GRANT));
    await eventually(api.store, async () => (storedCalls(api).length === 1 ? true : null));
    expect(storedCalls(api)).toEqual([{ state: "asked", made_by: "local user" }]);
    await child.kill();
    expect(await failure).toMatchObject({ status: 503, code: "host_unavailable", details: { pid: child.pid } });
    expect((await failure).message).toContain("Nothing was done");
    expect(storedCalls(api)).toEqual([]);
  });

  test("between the call and its answer, the caller is told that it may have been done", async () => {
    const { api, child } = await pair({ claimMs: 60_000, answerMs: 60_000, checkMs: 50 });
    const id = await asking(api, child);
    child.tell("hang");
    expect(await child.said()).toBe("holds");
    const failure = failureOf(api.post(`/v1/tasks/${id}/answer`, GRANT));
    expect(await child.said()).toBe("hangs");
    expect(storedCalls(api)).toMatchObject([{ state: "claimed" }]);
    await child.kill();
    expect(await failure).toMatchObject({ status: 504, code: "outcome_unknown", details: { pid: child.pid } });
    expect((await failure).message).toContain("may have been done");
    expect(storedCalls(api)).toEqual([]);
  });

  test("and it wakes up after the call was withdrawn, it does nothing", async () => {
    const { api, child } = await pair({ claimMs: 200, answerMs: 60_000, checkMs: 50 });
    const id = await asking(api, child);
    process.kill(child.pid, "SIGSTOP");
    const failure = await failureOf(api.post(`/v1/tasks/${id}/answer`, GRANT));
    expect(failure).toMatchObject({ status: 503, code: "host_unavailable" });
    expect(failure.message).toContain("does not react. Nothing was done");
    process.kill(child.pid, "SIGCONT");
    // Calls are taken in their order: once this one was answered, the other would have been begun.
    await api.client.logs(id);
    expect((await api.store.task(id))?.phase).toBe("waiting");
    await api.client.answer(id, GRANT);
    expect((await ended(api, id)).run.result).toBe("thanks");
  });

  test("and it answers too late, the caller was told that it may have been done", async () => {
    const { api, child } = await pair({ claimMs: 60_000, answerMs: 300, checkMs: 50 });
    const id = await asking(api, child);
    child.tell("hang");
    expect(await child.said()).toBe("holds");
    const failure = failureOf(api.post(`/v1/tasks/${id}/answer`, GRANT));
    expect(await child.said()).toBe("hangs");
    expect(await failure).toMatchObject({ status: 504, code: "outcome_unknown" });
    child.tell("go");
    expect((await ended(api, id)).run.result).toBe("thanks");
    expect(storedCalls(api)).toEqual([]);
  });

  test("that asked, what it asked for is done, and its call goes later", async () => {
    const { api, child } = await pair();
    const third = await startChild(api.world, "/third");
    const id = await asking(api, child);
    child.tell("hang");
    expect(await child.said()).toBe("holds");
    const lost = third.client.answer(id, GRANT).catch((thrown: unknown) => thrown);
    expect(await child.said()).toBe("hangs");
    await third.kill();
    expect(await lost).toBeInstanceOf(Error);
    child.tell("go");
    expect((await ended(api, id)).run.result).toBe("thanks");
    expect(storedCalls(api)).toMatchObject([{ state: "answered" }]);
  });
});

describe("a conversation", () => {
  test("of a dead process is read by any process with the same host", async () => {
    const api = await startApi();
    const session = api.side.host.openSession("x");
    await create(api.store, "orphan", { sessionId: session, directory: "/gone", owner: "ins_dead" });
    expect((await api.client.logs("orphan")).messages).toEqual([]);
    await create(api.store, "foreign", { host: "other", directory: "/gone", owner: "ins_dead" });
    expect(await failureOf(api.ask("/v1/tasks/foreign/logs"))).toMatchObject({ status: 503, code: "host_unavailable" });
  });

  test("that is long comes in several calls, complete and in order", async () => {
    const { api, child } = await pair();
    const task = await child.client.launch({ description: "x", prompt: markerOf("long"), agent: "general" });
    await eventually(api.store, async () => ((await api.store.task(task.id))?.progress.toolCalls === 6 ? true : null));
    const [there, here] = await Promise.all([child.client.logs(task.id), api.client.logs(task.id)]);
    expect(here.messages).toEqual(there.messages);
    expect(JSON.stringify(here.messages).length).toBeGreaterThan(1_500_000);
  });
});
