import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { call, gate, say } from "../../../src/testing/models/script.ts";
import { agentInput, claudeBed, closeBeds, follow, isAlive } from "../claude-bed.ts";

setDefaultTimeout(60_000);
afterEach(closeBeds);

describe("after a crash", () => {
  test("the session continues: its tasks are stopped, results are not mixed up, and an agent can be continued", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [call("Agent", agentInput("child")), say("begun"), say("noted")]);
    model.script("child", [gate("door"), say("never heard")]);
    const before = await open();
    await before.send(follow("main"));
    const [lost] = before.tasks.list();
    if (!lost) throw new Error("There is no task.");
    await model.gate("door").reached;
    process.kill(before.pid ?? 0, "SIGKILL");
    expect((await lost.wait()).status).toBe("lost");

    const after = await open({ resume: before.sessionId });
    model.script("hello", [say("hello again")]);
    // Claude answers the notice of the stopped task first, with an empty result.
    expect((await after.send(follow("hello"))).result).toBe("hello again");
    const task = after.tasks.get(lost.id);
    expect([task.status(), after.sessionId]).toEqual(["stopped", before.sessionId]);
    model.script("again", [call("SendMessage", { to: task.id, message: follow("more") }), say("x"), say("x")]);
    model.script("more", [say("more is done")]);
    await task.resume(follow("again"));
    expect(await task.wait()).toMatchObject({ status: "completed", summary: "more is done" });
  });

  test("an unanswered prompt rejects, and so does a continuation in progress", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [call("Agent", agentInput("child")), say("begun"), say("noted"), gate("turn"), say("no")]);
    model.script("child", [say("done")]);
    const claude = await open();
    await claude.send(follow("main"));
    const [task] = claude.tasks.list();
    await task?.wait();
    const turn = claude.send("and now").catch((thrown) => thrown);
    const resumed = task?.resume("more").catch((thrown) => thrown);
    await model.gate("turn").reached;
    process.kill(claude.pid ?? 0, "SIGKILL");
    expect([(await turn).code, (await resumed).code]).toEqual(["host_failed", expect.stringContaining("host_")]);
  });
});

describe("a Claude that does not start", () => {
  test.each([
    ["/nonexistent/claude", "not found"],
    ["/bin/false", "code 1"],
    ["complaining", "code 1: it complains"],
  ])("(%s) rejects with the reason", async (program, reason) => {
    const { open, home } = await claudeBed();
    if (program === "complaining") {
      writeFileSync(join(home.root, program), "#!/bin/sh\necho it complains >&2; exit 1\n", { mode: 0o755 });
    }
    const pathToClaudeCodeExecutable = resolve(home.root, program);
    const failure = await open({ pathToClaudeCodeExecutable }).catch((thrown) => thrown);
    expect([failure.code, failure.message]).toEqual(["host_unavailable", expect.stringContaining(reason)]);
  });
});

test("a session can be aborted with an AbortController, and no process is left", async () => {
  const { model, open } = await claudeBed();
  model.script("main", [gate("never"), say("no")]);
  const abortController = new AbortController();
  const claude = await open({ abortController });
  const turn = claude.send(follow("main")).catch((thrown) => thrown);
  await model.gate("never").reached;
  abortController.abort();
  expect((await turn).code).toBe("host_failed");
  await claude.close();
  expect(isAlive(claude.pid)).toBe(false);
});
