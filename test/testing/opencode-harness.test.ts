import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type OpenAiModel, startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { call, cut, empty, fail, gate, say } from "../../src/testing/models/script.ts";
import { messageText, OpenCodeHttpError } from "../../src/testing/opencode/client.ts";
import { type OpenCode, startOpenCode } from "../../src/testing/opencode/harness.ts";

let model: OpenAiModel;
let opencode: OpenCode;

beforeAll(async () => {
  model = startOpenAiModel();
  opencode = await startOpenCode({ model });
}, 60_000);

afterAll(async () => {
  await opencode?.stop();
  await model?.stop();
});

async function titled(title: string): Promise<string> {
  return (await opencode.createSession({ title })).id;
}

describe("a real OpenCode with a scripted model", () => {
  test("answers a prompt from the script", async () => {
    model.script("hello", [say("Hello from the script.")]);
    const session = (await opencode.createSession()).id;
    // The first prompt of the instance is accepted long before the session is busy.
    const messageId = await opencode.promptAsync(session, "Hi [[script:hello]]");
    await opencode.waitIdle(session);
    const [prompt, answer] = await opencode.messages(session);
    expect(prompt?.info.id).toBe(messageId);
    expect(answer && messageText(answer)).toBe("Hello from the script.");
    expect(answer?.info).toMatchObject({ role: "assistant", finish: "stop", tokens: { input: 100, output: 20 } });
    expect(model.requestsOf(session).map((request) => request.answeredBy)).toEqual(["hello#0"]);
    await model.waitForRequest((request) => request.kind === "title" && request.sessionId === session);
  }, 60_000);

  test("runs OpenCode's own tools, and the script can use their results", async () => {
    model.script("tools", [
      call("read", { filePath: join(opencode.directory, "notes.txt") }),
      call("bash", { command: "git log --format=%s", description: "Shows the log" }),
      say((request) => `${request.fromToolResults(/beta/, "read")}, ${request.toolResult("bash").trim()}`),
    ]);
    const answer = await opencode.prompt(await titled("tools"), "[[script:tools]]");
    expect(messageText(answer)).toBe("beta, Initial commit");
  }, 60_000);

  test("a gate holds a turn; the session is busy until it opens, idle afterwards", async () => {
    model.script("gated", [gate("door"), say("through")]);
    const session = await titled("gated");
    await opencode.promptAsync(session, "[[script:gated]]");
    await model.gate("door").reached;
    expect((await opencode.client.statuses())[session]).toEqual({ type: "busy" });
    model.gate("door").open();
    await opencode.waitIdle(session);
    expect((await opencode.messages(session)).map(messageText)).toEqual(["[[script:gated]]", "through"]);
  }, 60_000);

  test("abort ends a gated turn, and the model sees its client disconnect", async () => {
    model.script("aborted", [gate("shut"), say("unheard")]);
    const session = await titled("aborted");
    await opencode.promptAsync(session, "[[script:aborted]]");
    await model.gate("shut").reached;
    await opencode.abort(session);
    await opencode.waitIdle(session);
    await model.gate("shut").left;
    expect((await opencode.messages(session)).at(-1)?.info).toMatchObject({ error: { name: "MessageAbortedError" } });
  }, 60_000);

  test("a failing provider is retried, and recovers", async () => {
    model.script("flaky", [fail(503, "overloaded", { retryAfter: 0.1 }), say("recovered")]);
    const session = await titled("flaky");
    const answer = await opencode.prompt(session, "[[script:flaky]]");
    expect(messageText(answer)).toBe("recovered");
    const retry = await opencode.waitForEventOf(
      "session.status",
      ({ sessionID, status }) => sessionID === session && status.type === "retry",
    );
    expect(retry.properties.status).toMatchObject({ type: "retry", attempt: 1, message: "overloaded" });
  }, 60_000);

  test("a rejected request fails the turn", async () => {
    model.script("refused", [fail(400, "no such thing")]);
    const session = await titled("refused");
    const { info } = await opencode.prompt(session, "[[script:refused]]");
    expect(info).toMatchObject({ error: { name: "APIError", data: { message: "no such thing", statusCode: 400 } } });
    const event = await opencode.waitForEventOf("session.error", ({ sessionID }) => sessionID === session);
    expect(event.directory).toBe(opencode.directory);
  }, 60_000);

  test("a cut stream is retried", async () => {
    model.script("cut", [cut("half a sent"), say("whole")]);
    const session = await titled("cut");
    expect(messageText(await opencode.prompt(session, "[[script:cut]]"))).toBe("whole");
    expect(model.requestsOf(session)).toHaveLength(2);
  }, 60_000);

  test("an empty answer is a turn without text", async () => {
    model.script("empty", [empty()]);
    const answer = await opencode.prompt(await titled("empty"), "[[script:empty]]");
    expect([messageText(answer), answer.info.role === "assistant" && answer.info.finish]).toEqual(["", "stop"]);
  }, 60_000);

  test("concurrent sessions follow their own scripts", async () => {
    const names = ["red", "green", "blue"];
    for (const name of names) model.script(name, [gate("together"), say(`${name} 1`), say(`${name} 2`)]);
    const ids = await Promise.all(names.map(titled));
    const first = ids.map((id, index) => opencode.prompt(id, `[[script:${names[index]}]]`));
    await model.gate("together").reachedBy(3);
    model.gate("together").open();
    expect((await Promise.all(first)).map(messageText)).toEqual(["red 1", "green 1", "blue 1"]);
    const second = await Promise.all(ids.map((id) => opencode.prompt(id, "more")));
    expect(second.map(messageText)).toEqual(["red 2", "green 2", "blue 2"]);
  }, 60_000);
});

describe("the harness", () => {
  test("leaks nothing of the developer's environment", async () => {
    model.script("environment", [
      call("bash", { command: "env", description: "Shows it" }),
      say((request) => request.toolResult()),
    ]);
    const text = messageText(await opencode.prompt(await titled("environment"), "[[script:environment]]"));
    expect(text).toContain(`HOME=${opencode.home}\n`);
    expect(text).not.toMatch(/^(XDG_|NODE_ENV|BUN_)/m);
  }, 60_000);

  test("throws OpenCode's errors, with the end of its log", async () => {
    const failure = await opencode.messages("ses_unknown").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OpenCodeHttpError);
    expect(failure).toMatchObject({ status: 404, message: expect.stringContaining("End of OpenCode's log") });
  });

  test("a wait for an event that does not come shows what came", async () => {
    const wait = opencode.waitForEventOf("session.compacted", () => true, { timeoutMs: 30 });
    await expect(wait).rejects.toThrow(/event session.compacted[\s\S]*Seen instead: \d+ item[\s\S]*session\.\w+ \{/);
  });

  test("a restart after a kill keeps the sessions", async () => {
    model.script("twice", [say("before"), say("after")]);
    const session = await titled("kept");
    await opencode.prompt(session, "[[script:twice]]");
    const { pid } = opencode;
    expect(await opencode.kill("SIGKILL")).toMatchObject({ signal: "SIGKILL" });
    expect(opencode.running).toBe(false);
    await opencode.restart();
    expect(opencode.pid).not.toBe(pid);
    expect((await opencode.messages(session)).map(messageText)).toEqual(["[[script:twice]]", "before"]);
    expect(messageText(await opencode.prompt(session, "go on"))).toBe("after");
  }, 60_000);

  test("what a killed test run leaves behind is cleaned up", async () => {
    const folder = mkdtempSync(join(tmpdir(), "asyncagents-lifeline-"));
    const source = `
      import { attachLifeline } from ${JSON.stringify(Bun.resolveSync("../../src/testing/lifeline.ts", import.meta.dir))};
      const child = Bun.spawn(["sleep", "60"], { stdio: ["ignore", "inherit", "inherit"] });
      attachLifeline(child.pid, ${JSON.stringify(folder)});
      process.kill(process.pid, "SIGKILL");`;
    const run = Bun.spawn([process.execPath, "-e", source], { stdio: ["ignore", "pipe", "inherit"] });
    // The orphan holds the other end of this pipe: it closes when the orphan is dead.
    await new Response(run.stdout).text();
    await run.exited;
    expect(run.signalCode).toBe("SIGKILL");
  }, 60_000);

  test("stop ends the process and removes its folders", async () => {
    await opencode.stop();
    expect(opencode.running).toBe(false);
    expect(existsSync(dirname(opencode.home))).toBe(false);
  }, 60_000);
});
