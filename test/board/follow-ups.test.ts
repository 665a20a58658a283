import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { AsyncAgentsError, type ErrorCode } from "../../src/model/errors.ts";
import { type Clock, systemClock } from "../../src/process/clock.ts";
import { refusal } from "../worktree/git-bed.ts";
import { attemptOf, boardBed, open, projectOn, runsOf, wait, whenAttempt } from "./board-bed.ts";
import type { Side } from "./board-side.ts";

const bed = boardBed();
const side = await bed.side();
const { call } = side;

async function attempt(description: string): Promise<string> {
  return (await attemptOf(side, await projectOn(side, bed.git), description)).attempt_id;
}
const queue = (attempt_id: string, prompt: string, fields: object = {}) =>
  call("follow_up", { attempt_id, action: "queue", prompt, ...fields });
const send = (attempt_id: string, prompt: string, fields: object = {}) =>
  call("follow_up", { attempt_id, action: "send", prompt, ...fields });
const idle = (attempt_id: string) =>
  whenAttempt(side, attempt_id, ({ state, queued }) => state !== "running" && queued === 0);

describe("send", () => {
  test("continues the session by its own id, its attempt's id, or the attempt's other name [MT-05.1, MT-08.1, MT-08.2]", async () => {
    const attempt_id = await attempt("!say one");
    const { session_id } = await wait(side, attempt_id);
    expect(await send(attempt_id, "!say two")).toEqual({
      session_id: session_id ?? "",
      action: "send",
      run: 1,
      status: "empty",
      queued_count: 0,
    });
    expect(await wait(side, attempt_id)).toMatchObject({ state: "completed", final_message: "two", session_id });
    await call("follow_up", { session_id: session_id ?? "", action: "send", prompt: "!say three" });
    await wait(side, attempt_id);
    await call("follow_up", {
      workspace_id: attempt_id.toUpperCase(),
      action: "send",
      prompt: "--four",
      other_id: "x",
    });
    await wait(side, attempt_id);
    expect(await runsOf(side, attempt_id)).toEqual([
      "Try it\n\n!say one: completed",
      "!say two: completed",
      "!say three: completed",
      "--four: completed",
    ]);
  });

  test("is rejected while the session is busy; of many sent at once, one runs", async () => {
    const attempt_id = await attempt("!wait go");
    const refused = await refusal(send(attempt_id, "!say no"));
    expect(refused).toMatchObject({ code: "session_busy", message: expect.stringContaining("queue") });
    open(await call("get_attempt", { attempt_id }), "go");
    await wait(side, attempt_id);
    const { session_id } = await call("get_attempt", { attempt_id });
    const waiting = { id: crypto.randomUUID(), sessionId: session_id ?? "", prompt: "!say first", variant: null };
    await side.store.board.queueFollowUp({ ...waiting, queuedAt: 1 });
    // It is about to start, and was first.
    expect((await refusal(send(attempt_id, "!say no"))).code).toBe("session_busy");
    await call("follow_up", { attempt_id, action: "cancel" });
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => send(attempt_id, `!wait more-${i}`)));
    const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.code] : []));
    expect(reasons).toEqual(Array.from({ length: 7 }, () => "session_busy"));
    expect(await runsOf(side, attempt_id)).toHaveLength(2);
    await call("stop_attempt", { attempt_id });
  });

  test("a variant applies from then on; an unknown one is rejected", async () => {
    const attempt_id = await attempt("!say one");
    await wait(side, attempt_id);
    const refused = await refusal(send(attempt_id, "!say no", { variant: "nobody" }));
    expect(refused).toMatchObject({ code: "unknown_agent", message: expect.stringContaining("general, explore") });
    expect((await refusal(queue(attempt_id, "!say no", { variant: "nobody" }))).code).toBe("unknown_agent");
    const agent = async () => (await side.store.task((await call("attempt_task", { attempt_id })).handle ?? ""))?.agent;
    expect(await agent()).toBe("general");
    const before = await side.store.agentTotals();
    await send(attempt_id, "!say two", { variant: "explore" });
    await wait(side, attempt_id);
    expect(await agent()).toBe("explore");
    const after = await side.store.agentTotals();
    const tasks = (totals: typeof before, name: string) =>
      Object.values(totals.find((each) => each.agent === name)?.byStatus ?? {}).reduce((sum, count) => sum + count, 0);
    expect(tasks(after, "general")).toBe(tasks(before, "general") - 1);
    expect(tasks(after, "explore")).toBe(tasks(before, "explore") + 1);
    await queue(attempt_id, "!say three", { variant: "general" });
    await idle(attempt_id);
    expect(await agent()).toBe("general");
    expect((await side.store.agentTotals()).map(({ byStatus }) => Math.min(...Object.values(byStatus)))).toEqual([
      0, 0,
    ]);
  });
});

describe("queue", () => {
  test("runs in order, one after the other, even when many are queued at once", async () => {
    const attempt_id = await attempt("!wait go");
    const first = await queue(attempt_id, "!say 0", { variant: "explore" });
    expect(first).toMatchObject({ action: "queue", status: "queued", queued_count: 1 });
    expect(first.queued_message).toMatchObject({ message: "!say 0", variant: "explore", session_id: first.session_id });
    await queue(attempt_id, "!say 1");
    await Promise.all(Array.from({ length: 5 }, () => queue(attempt_id, "!say same")));
    expect(await call("get_attempt", { attempt_id })).toMatchObject({ state: "running", queued_count: 7 });
    open(await call("get_attempt", { attempt_id }), "go");
    await idle(attempt_id);
    expect((await runsOf(side, attempt_id)).slice(1)).toEqual([
      "!say 0: completed",
      "!say 1: completed",
      ...Array.from({ length: 5 }, () => "!say same: completed"),
    ]);
  });

  test("an idle session starts immediately; cancel removes everything that waits [MT-08.5]", async () => {
    const attempt_id = await attempt("!say one");
    await wait(side, attempt_id);
    await queue(attempt_id, "!wait two");
    const running = await whenAttempt(side, attempt_id, ({ state }) => state === "running");
    expect(running.queued_count).toBe(0);
    await queue(attempt_id, "!say three");
    await queue(attempt_id, "!say four");
    const { session_id } = running;
    expect(await call("follow_up", { session_id: session_id ?? "", action: "cancel" })).toEqual({
      session_id: session_id ?? "",
      action: "cancel",
      status: "empty",
      queued_count: 0,
    });
    open(running, "two");
    await wait(side, attempt_id);
    expect(await runsOf(side, attempt_id)).toHaveLength(2);
  });

  test("a failed run holds the queue until someone queues or sends again", async () => {
    const attempt_id = await attempt("!wait go\n!fail broken");
    await queue(attempt_id, "!say one");
    await queue(attempt_id, "!say two");
    open(await call("get_attempt", { attempt_id }), "go");
    expect(await wait(side, attempt_id)).toMatchObject({ state: "failed", error: "broken", queued_count: 2 });
    // The send goes first. Its run then succeeds, and the queue continues by itself.
    await send(attempt_id, "!say zero");
    await idle(attempt_id);
    expect((await runsOf(side, attempt_id)).slice(1)).toEqual([
      "!say zero: completed",
      "!say one: completed",
      "!say two: completed",
    ]);
    await send(attempt_id, "!wait go-2");
    await queue(attempt_id, "!say three");
    expect(await call("stop_attempt", { attempt_id })).toEqual({ attempt_id, state: "stopped" });
    expect(await call("get_attempt", { attempt_id })).toMatchObject({ state: "stopped", queued_count: 1 });
    expect(await call("stop_attempt", { attempt_id })).toEqual({ attempt_id, state: "stopped" });
    await queue(attempt_id, "!say four");
    await idle(attempt_id);
    expect((await runsOf(side, attempt_id)).slice(5)).toEqual(["!say three: completed", "!say four: completed"]);
  });

  test("a follow-up that cannot start stays first and is shown; it is retried when someone queues again", async () => {
    const attempt_id = await attempt("!wait go");
    await queue(attempt_id, "!say lost");
    const running = await call("get_attempt", { attempt_id });
    const { handle } = await call("attempt_task", { attempt_id });
    const engine = side.runner.engines().find(({ instance }) => instance.directory === running.repos[0]?.path);
    const resume = engine?.resumeTask;
    if (!engine || !resume) throw new Error("no engine works there");
    engine.resumeTask = () => Promise.reject(Object.assign(new Error("the session is gone"), { code: "session_gone" }));
    open(running, "go");
    const held = await whenAttempt(side, attempt_id, ({ refused }) => refused !== null);
    expect(held).toMatchObject({
      state: "completed",
      queued_count: 1,
      error: expect.stringContaining("the session is gone"),
    });
    engine.resumeTask = resume;
    await queue(attempt_id, "!say found");
    await idle(attempt_id);
    expect(await call("get_attempt", { attempt_id })).toMatchObject({ error: null, final_message: "found" });
    expect((await side.store.runs(handle ?? "")).length).toBe(3);
    expect(side.logged.join()).toContain("a queued follow-up could not begin");
  });
});

describe("a queue that cannot continue", () => {
  /** An attempt with one queued follow-up, whose engine refuses to start runs for so long. */
  async function refusedOn(at: Side, code: ErrorCode, isRefused: () => boolean) {
    const { attempt_id } = await attemptOf(at, await projectOn(at, bed.git), "!wait go");
    await whenAttempt(at, attempt_id, ({ state }) => state === "running");
    await at.call("follow_up", { attempt_id, action: "queue", prompt: "!say at last" });
    const running = await at.call("get_attempt", { attempt_id });
    const engine = at.runner.engines().find(({ instance }) => instance.directory === running.repos[0]?.path);
    if (!engine) throw new Error("no engine works there");
    const resume = engine.resumeTask.bind(engine);
    engine.resumeTask = (...given) =>
      isRefused() ? Promise.reject(new AsyncAgentsError(code, "not now")) : resume(...given);
    open(running, "go");
    return attempt_id;
  }

  const times = (count: number) => {
    let left = count;
    return () => left-- > 0;
  };

  test("because of a transient fault is retried automatically until it starts", async () => {
    const hasty = await bed.side(undefined, { retryPause: 1 });
    const attempt_id = await refusedOn(hasty, "host_unavailable", times(3));
    await whenAttempt(hasty, attempt_id, ({ state, queued }) => state === "completed" && queued === 0);
    expect(await runsOf(hasty, attempt_id)).toEqual(["Try it\n\n!wait go: completed", "!say at last: completed"]);
    expect(hasty.logged.filter((line) => line.startsWith("a queued follow-up could not begin"))).toHaveLength(3);
  });

  test("is retried as soon as at first, if its session had a run in the meantime", async () => {
    const pauses: number[] = [];
    const timers = [0, 1].map(() => Promise.withResolvers<() => void>());
    const retryPause = 7_777;
    const after: Clock["after"] = (ms, work, options) => {
      if (ms % retryPause > 0) return systemClock.after(ms, work, options);
      timers[pauses.push(ms) - 1]?.resolve(work);
      return () => {};
    };
    const patient = await bed.side(undefined, { after, retryPause });
    let left = 1;
    const attempt_id = await refusedOn(patient, "host_unavailable", () => left-- > 0);
    const tryAgain = await timers[0]?.promise;
    await patient.call("follow_up", { attempt_id, action: "send", prompt: "!wait again" });
    await whenAttempt(patient, attempt_id, ({ state }) => state === "running");
    tryAgain?.();
    left = 1;
    open(await patient.call("get_attempt", { attempt_id }), "again");
    await timers[1]?.promise;
    expect(pauses).toEqual([retryPause, retryPause]);
  });

  test("because the store could not be read is checked again automatically", async () => {
    const hasty = await bed.side(undefined, { retryPause: 1 });
    const { attempt_id } = await attemptOf(hasty, await projectOn(hasty, bed.git), "!wait go");
    await whenAttempt(hasty, attempt_id, ({ state }) => state === "running");
    const { session_id } = await hasty.call("follow_up", { attempt_id, action: "queue", prompt: "!say at last" });
    const busy = () => Promise.reject(new AsyncAgentsError("store_unavailable", "The task store is busy."));
    const { board } = hasty.store as {
      board: { -readonly [Name in keyof Side["store"]["board"]]: Side["store"]["board"][Name] };
    };
    const { sessionOfTask, session } = board;
    board.sessionOfTask = () => {
      board.sessionOfTask = sessionOfTask;
      board.session = (id) => {
        if (id !== session_id) return session(id);
        board.session = session;
        return busy();
      };
      return busy();
    };
    open(await hasty.call("get_attempt", { attempt_id }), "go");
    await whenAttempt(hasty, attempt_id, ({ state, queued }) => state === "completed" && queued === 0);
    expect(await runsOf(hasty, attempt_id)).toEqual(["Try it\n\n!wait go: completed", "!say at last: completed"]);
    expect(hasty.logged.filter((line) => line.startsWith("a queue could not be looked at"))).toHaveLength(2);
  });

  test("is retried after a restart, unless a person stopped it", async () => {
    const folder = bed.git.folder();
    const before = await bed.side(folder);
    const [refused, stopped] = [
      await refusedOn(before, "session_gone", times(1)),
      await refusedOn(before, "session_gone", times(1)),
    ];
    for (const attempt_id of [refused, stopped]) {
      await whenAttempt(before, attempt_id, (standing) => standing.refused !== null);
    }
    expect(await before.call("stop_attempt", { attempt_id: stopped })).toMatchObject({ state: "completed" });
    await before.close();
    const after = await bed.side(folder);
    await whenAttempt(after, refused, ({ state, queued }) => state === "completed" && queued === 0);
    expect(await after.call("get_attempt", { attempt_id: stopped })).toMatchObject({
      state: "completed",
      queued_count: 1,
      error: expect.stringContaining("was stopped"),
    });
    await after.call("follow_up", { attempt_id: stopped, action: "queue", prompt: "!say and this" });
    await whenAttempt(after, stopped, ({ state, queued }) => state === "completed" && queued === 0);
    expect((await runsOf(after, stopped)).slice(1)).toEqual(["!say at last: completed", "!say and this: completed"]);
  });
});

describe("questions", () => {
  test("a question can be answered by anyone, a permission only by a person", async () => {
    const attempt_id = await attempt("!ask Which colour?\n!say ok");
    expect(await wait(side, attempt_id)).toMatchObject({
      state: "waiting",
      asked: { kind: "question", text: "Which colour?" },
    });
    expect(await call("answer_question", { attempt_id, answers: ["blue"] })).toEqual({ answered: true });
    expect(await whenAttempt(side, attempt_id, ({ state }) => state === "completed")).toMatchObject({ asked: null });
    expect((await refusal(call("answer_question", { attempt_id, answers: ["blue"] }))).code).toBe("nothing_asked");
    await send(attempt_id, "!permit May I delete it?");
    expect(await wait(side, attempt_id)).toMatchObject({ state: "waiting", asked: { kind: "permission" } });
    const refused = await refusal(call("answer_question", { attempt_id, answers: ["yes"] }));
    expect(refused).toMatchObject({ code: "not_allowed", message: expect.stringContaining("a person must answer") });
    await call("stop_attempt", { attempt_id });
  });
});

describe("tasks without a project", () => {
  test("are launched in a folder, waited for, answered", async () => {
    const directory = bed.git.folder();
    const launch = (prompt: string, fields: object = {}) =>
      call("launch_task", { prompt, directory, executor: "scripted", ...fields });
    const [one, two] = [await launch("--first\n!say 1"), await launch("!ask Sure?\n!say 2", { description: "Second" })];
    const handles = [two.handle, one.handle];
    const both = await call("wait_tasks", { handles, wait_ms: 20_000 });
    expect(both).toMatchObject({
      done: true,
      tasks: [
        { handle: two.handle, description: "Second", status: "running", asked: { kind: "question", text: "Sure?" } },
        { handle: one.handle, description: "--first", status: "completed", result: "1", asked: null, error: null },
      ],
    });
    expect(await call("answer_question", { handle: two.handle, answers: ["yes"] })).toEqual({ answered: true });
    const three = await launch("!wait never");
    const any = await call("wait_tasks", { handles: [three.handle, two.handle], until: "any", wait_ms: 20_000 });
    expect(any.done).toBe(true);
    expect(await call("wait_tasks", { handles: [three.handle], wait_ms: 1 })).toMatchObject({ done: false });
    const abort = new AbortController();
    const waiting = call("wait_tasks", { handles: [three.handle], wait_ms: 50_000 }, { signal: abort.signal });
    abort.abort();
    expect(await waiting).toMatchObject({ done: false, tasks: [{ status: "running" }] });
    expect((await refusal(call("wait_tasks", { handles: ["nobody"] }))).code).toBe("not_found");
    expect((await refusal(call("launch_task", { prompt: "x" }))).code).toBe("missing_required");
    expect((await refusal(launch("x", { directory: join(directory, "none") }))).code).toBe("invalid_input");
    expect((await refusal(launch("x", { executor: "OPENCODE" }))).code).toBe("host_unavailable");
    rmSync(directory, { recursive: true });
  });
});
