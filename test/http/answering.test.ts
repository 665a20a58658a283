import { describe, expect, test } from "bun:test";
import type { NotifyInput } from "../../src/hosts/host.ts";
import { ask, say } from "../../src/hosts/scripted/script.ts";
import type { ScriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { taskSchema } from "../../src/protocol/tasks.ts";
import { ended, launch, notices, when } from "../engine/engine-bed.ts";
import { failureOf, startApi, stored } from "./bed/api-bed.ts";
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
