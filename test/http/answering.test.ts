import { describe, expect, test } from "bun:test";
import type { NotifyInput } from "../../src/hosts/host.ts";
import { ask, call, fail, say } from "../../src/hosts/scripted/script.ts";
import type { ScriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import type { TaskEvent } from "../../src/model/events.ts";
import { type InboxPage, inboxSchema } from "../../src/protocol/inbox.ts";
import { taskSchema } from "../../src/protocol/tasks.ts";
import { ended, launch, notices, when } from "../engine/engine-bed.ts";
import { type Api, failureOf, startApi, stored } from "./bed/api-bed.ts";
import { strict } from "./bed/strict-schema.ts";

describe("answer", () => {
  async function asking(asks: "permission" | "question") {
    const api = await startApi();
    const prompt = api.world.script(ask(asks, "May I?"), say("thanks"));
    const { id } = await api.client.launch({ description: "x", prompt, agent: "general" });
    const task = await when(api.side, await stored(api, id), ({ phase }) => phase === "waiting");
    const requestId = task.phaseDetail?.kind === "waiting" ? task.phaseDetail.requestId : "";
    return { api, id, task, requestId };
  }

  test("a permission is granted, and the task continues; it cannot be answered twice", async () => {
    const { api, id, task, requestId } = await asking("permission");
    const grant = { kind: "permission", decision: "once", requestId } as const;
    expect(await api.client.answer(id, grant)).toMatchObject({ id });
    expect(await ended(api.side, task)).toMatchObject({ status: "completed", run: { result: "thanks" } });
    const failure = await failureOf(api.post(`/v1/tasks/${id}/answer`, grant));
    expect(failure).toMatchObject({ status: 409, code: "nothing_asked" });
    expect(failure.message).toContain("was already allowed once, over the API");
  });

  test("an answer records where it came from, and the task shows it with a time", async () => {
    const { api, id, task, requestId } = await asking("permission");
    await api.client.answer(id, { kind: "permission", decision: "always", requestId, via: "dashboard" });
    await ended(api.side, task);
    const shown = strict(taskSchema).parse(await (await api.ask(`/v1/tasks/${id}`)).json());
    expect(shown).toMatchObject({
      phaseDetail: {
        kind: "answered",
        requestId,
        reply: "always allowed",
        by: "dashboard",
        at: expect.stringMatching(/^20.*Z$/),
      },
    });
    expect(
      (await failureOf(api.post(`/v1/tasks/${id}/answer`, { kind: "question", answers: [], via: "x" }))).status,
    ).toBe(400);
  });

  test("a question is answered, or declined", async () => {
    const { api, id, task } = await asking("question");
    await api.client.answer(id, { kind: "question", answers: ["blue"] });
    expect((await ended(api.side, task)).run.result).toBe("thanks");
    const other = await asking("question");
    await other.api.client.answer(other.id, { kind: "question", answers: null });
    expect((await ended(other.api.side, other.task)).run.error).toContain("a person refused");
  });

  test("an answer that does not match is rejected, and the task keeps waiting", async () => {
    const { api, id, task } = await asking("permission");
    for (const [of, body, status, code] of [
      [id, { kind: "question", answers: ["x"] }, 400, "invalid_input"],
      [id, { kind: "permission", decision: "perhaps" }, 400, "invalid_input"],
      [id, { decision: "once" }, 400, "invalid_input"],
      [id, { kind: "permission", decision: "once", requestId: "another" }, 409, "nothing_asked"],
      ["none", { kind: "permission", decision: "once" }, 404, "task_not_found"],
    ] as const) {
      expect(await failureOf(api.post(`/v1/tasks/${of}/answer`, body))).toMatchObject({ status, code });
    }
    const grant = { kind: "permission", decision: "once" };
    const untold = await failureOf(api.post(`/v1/tasks/${id}/answer`, grant, { authorization: "" }));
    expect(untold.status).toBe(401);
    expect(await stored(api, id)).toMatchObject({ phase: "waiting", run: { number: task.run.number } });
  });
});

describe("tell", () => {
  test("a failed notification is shown with its reason, and sent when a person asks for it", async () => {
    let isGone = true;
    const gone = new AsyncAgentsError("session_gone", "no such session");
    const host = (scripted: ScriptedHost) => ({
      notify: (sessionId: string, input: NotifyInput) =>
        isGone ? Promise.reject(gone) : scripted.notify(sessionId, input),
    });
    const api = await startApi({ side: { host } });
    const parent = api.world.parent();
    const task = await ended(api.side, await launch(api.side, parent, api.world.script(say("x"))));
    await notices(api.side, parent, "dropped", 1);
    const shown = strict(taskSchema).parse(await api.client.task(task.id)) as { notice?: unknown };
    expect(shown.notice).toMatchObject({ state: "dropped", reason: "the parent session does not exist any more" });
    isGone = false;
    await api.client.tell(task.id);
    await notices(api.side, parent, "delivered", 1);
    expect((await api.client.task(task.id)).notice).toMatchObject({ state: "delivered", reason: null });
    expect((await failureOf(api.post(`/v1/tasks/${task.id}/tell`, {}))).code).toBe("nothing_to_tell");
  });
});

/** The clock of the engines here starts near zero: their tasks ended long ago. */
const EVER = 10_000_000;

const AGENTS: Record<string, string>[] = [{ "x-asyncagents-door": "model" }, { "x-asyncagents-depth": "1" }];

async function askingOne(api: Api, asks: "permission" | "question", text: string) {
  const prompt = api.world.script(ask(asks, text), call("read"), say("thanks"));
  const { id } = await api.client.launch({ description: `asks ${text}`, prompt, agent: "general" });
  const task = await when(api.side, await stored(api, id), ({ phase }) => phase === "waiting");
  const requestId = task.phaseDetail?.kind === "waiting" ? task.phaseDetail.requestId : "";
  return { id, task, requestId };
}

async function failing(api: Api, error: string) {
  const { id } = await api.client.launch({
    description: error,
    prompt: api.world.script(fail(error)),
    agent: "general",
  });
  return ended(api.side, await stored(api, id));
}

async function receipts(api: Api, id: string): Promise<TaskEvent[]> {
  const entries = await api.store.entriesOf([id], { after: 0, before: Number.MAX_SAFE_INTEGER });
  return entries.map(({ event }) => event).filter(({ type }) => type.startsWith("request.") || type === "run.phased");
}

describe("the inbox", () => {
  test("lists requests, approvals and failed runs of people, oldest first, with how each can be answered", async () => {
    const api = await startApi();
    const permission = await askingOne(api, "permission", "May I?");
    const failed = await failing(api, "out of luck");
    const question = await askingOne(api, "question", "Which one?");
    await api.store.board.putApproval({
      id: "00000000-0000-4000-8000-000000000001",
      kind: "setup",
      subject: "s",
      directory: "/repo",
      script: "make",
      state: "requested",
      askedBy: "a model",
      createdAt: Date.now(),
      decidedAt: null,
    });
    // Its parent is told, and decides.
    await ended(api.side, await launch(api.side, api.world.parent(), api.world.script(fail("told to its parent"))));
    const page = strict(inboxSchema).parse(await (await api.ask(`/v1/inbox?failedHours=${EVER}`)).json()) as InboxPage;
    expect(page).toMatchObject({ total: 4, isTruncated: false });
    expect(page.entries.map(({ kind, text, taskId, answers }) => [kind, text, taskId, answers])).toEqual([
      ["permission", "May I?", permission.id, ["once", "always", "reject"]],
      ["failed", "out of luck", failed.id, ["resume", "read"]],
      ["question", "Which one?", question.id, ["text", "decline"]],
      ["approval", "run this script in each new worktree of /repo\nmake", null, ["approve", "deny"]],
    ]);
    expect(page.entries[0]).toMatchObject({
      requestId: permission.requestId,
      description: "asks May I?",
      agent: "general",
      host: "scripted",
      directory: permission.task.directory,
      parentSessionID: null,
      seen: [],
    });
    const first = await api.client.inbox({ limit: 1, failedHours: EVER });
    expect([first.entries.length, first.total, first.isTruncated]).toEqual([1, 4, true]);
    expect((await failureOf(api.ask("/v1/inbox?limit=x"))).status).toBe(400);
  });

  test("an entry leaves when it is answered, read, or too old", async () => {
    const api = await startApi();
    const { id, task, requestId } = await askingOne(api, "permission", "May I?");
    const failed = await failing(api, "out of luck");
    const kinds = async (query = { failedHours: EVER }) =>
      (await api.client.inbox(query)).entries.map(({ kind }) => kind);
    expect(await kinds()).toEqual(["permission", "failed"]);
    expect(await kinds({ failedHours: 1 })).toEqual(["permission"]);
    await api.client.answer(id, { kind: "permission", decision: "once", requestId });
    await ended(api.side, task);
    expect(await kinds()).toEqual(["failed"]);
    expect((await api.client.read(failed.id)).resultRetrievedAt).not.toBeNull();
    expect(await kinds()).toEqual([]);
  });

  test("a live task cannot be marked as read", async () => {
    const api = await startApi();
    const { id } = await askingOne(api, "question", "Which one?");
    expect(await failureOf(api.post(`/v1/tasks/${id}/read`, {}))).toMatchObject({ status: 409, code: "task_running" });
  });
});

describe("receipts", () => {
  test("asked, seen once for each place, answered by whom, and applied are events in this order", async () => {
    const api = await startApi();
    const { id, task, requestId } = await askingOne(api, "permission", "May I?");
    for (let times = 0; times < 3; times++) {
      await api.client.inbox();
      await api.client.seen(id, { requestId, via: "dashboard" });
    }
    await api.client.seen(id, { requestId });
    expect((await api.client.inbox()).entries[0]?.seen).toEqual(["dashboard", "api"]);
    await api.client.answer(id, { kind: "permission", decision: "once", requestId, via: "dashboard" });
    await ended(api.side, task);
    const told = (await receipts(api, id)).flatMap((event): (string | boolean)[][] => {
      if (event.type === "request.seen") return [["seen", event.by]];
      if (event.type === "request.applied") return [["applied", event.requestId]];
      return event.type === "run.phased" && event.detail
        ? [[event.detail.kind, "by" in event.detail && event.detail.by]]
        : [];
    });
    expect(told).toEqual([
      ["waiting", false],
      ["seen", "dashboard"],
      ["seen", "api"],
      ["answered", "dashboard"],
      ["applied", requestId],
    ]);
    const { phaseDetail } = await api.client.task(id);
    expect(phaseDetail).toMatchObject({
      kind: "answered",
      by: "dashboard",
      appliedAt: expect.stringMatching(/^20.*Z$/),
    });
  });

  test("an agent has seen nothing, and neither has somebody who looks at an older request", async () => {
    const api = await startApi();
    const { id, requestId } = await askingOne(api, "permission", "May I?");
    const seen = (headers = {}, request = requestId) =>
      api.post(`/v1/tasks/${id}/seen`, { requestId: request }, headers);
    for (const headers of AGENTS) {
      expect(await failureOf(seen(headers))).toMatchObject({ status: 403, code: "not_allowed" });
      expect((await failureOf(api.post(`/v1/tasks/${id}/read`, {}, headers))).status).toBe(403);
    }
    expect((await seen({ authorization: "" })).status).toBe(401);
    expect((await seen({}, "an older one")).status).toBe(200);
    expect((await receipts(api, id)).map(({ type }) => type)).not.toContain("request.seen");
    expect((await api.client.audit()).entries.map(({ operation }) => operation)).not.toContain("seen");
  });
});
