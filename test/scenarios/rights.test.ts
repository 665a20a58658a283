/**
 * Which model a task runs on and what it may do, on the real OpenCode: never more than its parent.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { call, say } from "../../src/testing/models/script.ts";
import { World } from "./world.ts";

const model = startOpenAiModel();
let world: World;
beforeAll(async () => {
  const limit = { context: 100_000, output: 8000 };
  const other = {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: model.url, apiKey: "none" },
    models: { m2: { tool_call: true, limit }, m3: { tool_call: true, limit } },
  };
  const fake = { ...other, models: { m1: { tool_call: true, limit } } };
  world = await World.start({
    model,
    permission: { "*": "allow", task: { "*": "allow", secret: "deny" } },
    config: {
      provider: { fake, other },
      agent: {
        own: { mode: "subagent", description: "has a model", model: "other/m3" },
        planner: { mode: "primary", description: "may not edit", permission: { edit: "deny" } },
        secret: { mode: "subagent", description: "must not be launched" },
      },
    },
  });
});
afterAll(async () => {
  await world?.stop();
  await model.stop();
});

const modelOf = (sessionId: string) => world.model.requestsOf(sessionId)[0]?.body.model;

test("a task runs on its agent's model, or else on the model of the parent's message", async () => {
  const parent = await world.parent();
  const launch = (agent: string) => ({
    name: "asyncagents_task",
    input: { description: agent, prompt: `${world.script(say("x"))} go`, agent },
  });
  const text = world.script({ type: "toolCalls", text: "", calls: [launch("own"), launch("general")] }, say("ok"));
  await world.opencode.prompt(parent.sessionId, `${text} go`, { model: { providerID: "other", modelID: "m2" } });
  const { tasks } = await world.store.tasks({ parentSessionId: parent.sessionId });
  for (const task of tasks) await world.ended(task.id);
  const models = Object.fromEntries(tasks.map((task) => [task.agent, modelOf(task.id)]));
  expect(models).toEqual({ own: "m3", general: "m2" });
  await parent.notice(tasks[0]?.id ?? "");
  await world.opencode.waitIdle(parent.sessionId);
  expect(world.model.requestsOf(parent.sessionId).at(-1)?.body.model).toBe("m2");
});

test("what the parent session may not do, its tasks may not, including forks", async () => {
  const parent = await world.parent({
    permission: [
      { permission: "bash", pattern: "*", action: "deny" },
      { permission: "external_directory", pattern: "*", action: "deny" },
    ],
  });
  const [child] = await parent.launchAll([[say("x")]]);
  const fork = await parent.launch([say("x")], { fork: true });
  for (const id of [child ?? "", fork]) {
    await world.ended(id);
    expect(world.model.requestsOf(id)[0]?.request.toolNames).not.toContain("bash");
    const { permission } = await world.opencode.client.session(id);
    expect(permission).toContainEqual({ permission: "external_directory", pattern: "*", action: "deny" });
  }
  const free = await (await world.parent()).launch([say("x")]);
  await world.ended(free);
  expect(world.model.requestsOf(free)[0]?.request.toolNames).toContain("bash");
});

test("what the parent's agent may not do, its tasks may not", async () => {
  const parent = await world.parent();
  const filePath = join(world.opencode.directory, "by-a-planner.txt");
  const prompt = `${world.script(call("write", { filePath, content: "x" }), say("x"))} go`;
  await parent.ask("task", { description: "plan", prompt, agent: "general" }, { agent: "planner" });
  const { tasks } = await world.store.tasks({ parentSessionId: parent.sessionId });
  const id = tasks[0]?.id ?? "";
  await world.ended(id);
  const { permission } = await world.opencode.client.session(id);
  expect(permission).toContainEqual({ permission: "edit", pattern: "*", action: "deny" });
  expect(existsSync(filePath)).toBe(false);
});

test("a parent that may only read and launch has tasks that may do no more", async () => {
  const rule = (name: string, action: "allow" | "deny") => ({ permission: name, pattern: "*", action });
  const parent = await world.parent({
    permission: [rule("*", "deny"), ...["read", "task", "asyncagents_*"].map((name) => rule(name, "allow"))],
  });
  const filePath = join(world.opencode.directory, "by-a-reader.txt");
  const steps = [call("bash", { command: `touch ${filePath}`, description: "x" }), say("x")];
  for (const input of [{}, { fork: true }]) {
    const id = await parent.launch(steps, input);
    await world.ended(id);
    expect(world.model.requestsOf(id)[0]?.request.toolNames).toEqual(["read", "task"]);
  }
  expect(existsSync(filePath)).toBe(false);
});

test("a parent that is asked before a command has tasks that are asked, and a person can answer", async () => {
  const parent = await world.parent({ permission: [{ permission: "bash", pattern: "*", action: "ask" }] });
  const id = await parent.launch([call("bash", { command: "echo asked", description: "x" }), say("went on")]);
  const waiting = await world.until(id, (task) => task.phase === "waiting" || task.status !== "running", "a question");
  expect(waiting.phaseDetail).toMatchObject({ kind: "waiting", asks: "permission", text: "bash: echo asked" });
  const { client } = await world.api();
  await client.answer(id, { kind: "permission", decision: "once" });
  expect((await world.ended(id)).run.result).toBe("went on");
});

test("permission.task is honoured: a denied agent is not launched", async () => {
  const parent = await world.parent();
  const answer = await parent.ask("task", { description: "x", prompt: "x", agent: "secret" });
  expect(answer.toLowerCase()).toContain("permission");
  expect((await world.store.tasks({ parentSessionId: parent.sessionId })).total).toBe(0);
  expect(await world.store.launches()).toEqual([]);
});

test("a task has none of our tools, and its definitions cost the parent at most 2,600 bytes", async () => {
  const parent = await world.parent();
  const id = await parent.launch([say("x")]);
  await world.ended(id);
  const own = (sessionId: string) => {
    const [request] = world.model.requestsOf(sessionId);
    return (request?.body.tools ?? []).filter((tool) => tool.function.name.startsWith("asyncagents_"));
  };
  expect(own(id)).toEqual([]);
  expect(own(parent.sessionId).length).toBe(5);
  expect(Buffer.byteLength(JSON.stringify(own(parent.sessionId)))).toBeLessThanOrEqual(2600);
});

test("the plugin prints nothing", () => {
  const { stdout, stderr } = world.opencode.output();
  expect(stderr).toBe("");
  expect(
    stdout.split("\n").filter((line) => line !== "" && !/^(Warning: OPENCODE|opencode server)/.test(line)),
  ).toEqual([]);
});
