/**
 * Bad input on the real OpenCode: each gets an answer that says what to do, and no task is created or changed.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { fail, gate, say } from "../../src/testing/models/script.ts";
import { createTemporaryRoot } from "../../src/testing/opencode/home.ts";
import { type Parent, World } from "./world.ts";

const model = startOpenAiModel();
let world: World;
beforeAll(async () => {
  world = await World.start({ model });
});
afterAll(async () => {
  await world?.stop();
  await model.stop();
});

const good = { description: "d", prompt: "p", agent: "general" };

async function refuses(
  parent: Parent,
  tool: string,
  input: Record<string, unknown>,
  says: string | RegExp,
): Promise<void> {
  const before = await world.store.lastSeq();
  const answer = await parent.ask(tool, input);
  expect(answer).toMatch(says);
  expect(await world.store.lastSeq()).toBe(before);
}

describe("launch", () => {
  test.each([
    ["an empty description", { ...good, description: " " }, /description is empty/],
    ["a huge description", { ...good, description: "x".repeat(501) }, /at most 500 are allowed/],
    ["an empty prompt", { ...good, prompt: "" }, /prompt is empty/],
    ["a huge prompt", { ...good, prompt: "x".repeat(200_001) }, /put the text into a file/],
    ["no agent", { description: "d", prompt: "p" }, /agent is missing.*Known agents: .*general/],
    ["an unknown agent", { ...good, agent: "nobody" }, /no agent "nobody".*Known agents: .*general/],
    ["no prompt", { description: "d", agent: "general" }, /Error \(invalid_input\): prompt is missing/],
    ["a prompt that is no text", { ...good, prompt: ["p"] }, /Error \(invalid_input\): prompt must be a string/],
    ["a fork that is no boolean", { ...good, fork: "yes" }, /Error \(invalid_input\): fork must be a boolean/],
    ["a batch with odd characters", { ...good, batch: "../../etc" }, /batch must be a short name/],
  ])("%s", async (_name, input, says) => {
    const parent = await world.parent();
    await refuses(parent, "task", input, says);
    expect((await world.store.tasks({ parentSessionId: parent.sessionId })).total).toBe(0);
    expect(await world.opencode.client.children(parent.sessionId)).toEqual([]);
    expect(await world.store.launches()).toEqual([]);
  });
});

test("null is the same as left out: many models send it for what is optional", async () => {
  const parent = await world.parent();
  const prompt = `${world.script(say("x"))} go`;
  const answer = await parent.ask("task", { ...good, prompt, fork: null, resume: null, batch: null });
  expect(answer).toContain("launched: status running");
  await parent.notice(/ses_\w+/.exec(answer)?.[0] ?? "");
});

describe("ids", () => {
  test("none at all, or not a text", async () => {
    const parent = await world.parent();
    await refuses(parent, "output", {}, /Error \(invalid_input\): task_id is missing/);
    await refuses(parent, "output", { task_id: 7 }, /Error \(invalid_input\): task_id must be a string/);
    await refuses(parent, "cancel", { task_id: 7 }, /Error \(invalid_input\): task_id must be a string/);
  });

  test("unknown, empty, with path characters", async () => {
    const parent = await world.parent();
    for (const tool of ["output", "cancel"]) {
      await refuses(
        parent,
        tool,
        { task_id: "ses_nothing" },
        /You have no task "ses_nothing".*asyncagents_list shows the ids/,
      );
      await refuses(parent, tool, { task_id: "../../../etc/passwd" }, /You have no task/);
      await refuses(parent, tool, { task_id: " " }, /task_id is empty/);
    }
    await refuses(parent, "task", { resume: "ses_../x", prompt: "p" }, /You have no task/);
  });

  test("a unique prefix of one's own id is enough, an ambiguous one is not", async () => {
    const parent = await world.parent();
    const [one, two] = await parent.launchAll([[say("one")], [say("two")]]);
    for (const id of [one, two]) await world.ended(id ?? "");
    const differ = [...(one ?? "")].findIndex((character, index) => character !== two?.[index]);
    expect(await parent.ask("output", { task_id: one?.slice(0, differ + 1) })).toMatch(/Result:\n--- .*\none\n---/);
    expect(await parent.ask("output", { task_id: "ses_" })).toMatch(/fits several of your tasks. Give the whole id/);
  });

  test("another parent's task", async () => {
    const [mine, other] = [await world.parent(), await world.parent()];
    const id = await other.launch([gate("theirs"), say("x")]);
    for (const [tool, input] of [
      ["output", { task_id: id }],
      ["cancel", { task_id: id }],
      ["task", { resume: id, prompt: "p" }],
    ] as const) {
      expect(await mine.ask(tool, input)).toMatch(/belongs to another session/);
    }
    expect(await mine.ask("cancel", { batch: (await world.task(id)).batchId })).toMatch(/None of your tasks/);
    expect((await world.task(id)).status).toBe("running");
    model.gate("theirs").open();
    await world.ended(id);
  });
});

describe("resume", () => {
  test("of a running task [BT-06.4]", async () => {
    const parent = await world.parent();
    const id = await parent.launch([gate("busy"), say("x")]);
    await model.gate("busy").reached;
    expect(await parent.ask("task", { resume: id, prompt: "p" })).toMatch(
      /Only completed tasks can be resumed.*still running/,
    );
    model.gate("busy").open();
    await world.ended(id);
    const failed = await parent.launch([fail(400, "x")]);
    await world.ended(failed);
    await refuses(
      parent,
      "task",
      { resume: failed, prompt: "p" },
      /Only completed tasks can be resumed.*status "error".*Start a new asyncagents_task/,
    );
    expect((await world.task(failed)).run.number).toBe(0);
  });

  test("of a task that is being resumed [BT-06.5]", async () => {
    const parent = await world.parent();
    const id = await parent.launch([say("x")]);
    await world.ended(id);
    await parent.ask("task", { resume: id, prompt: `${world.script(gate("resuming"), say("y"))} more` });
    await model.gate("resuming").reached;
    expect(await parent.ask("task", { resume: id, prompt: "p" })).toMatch(/currently being resumed/);
    expect((await world.task(id)).run.number).toBe(1);
    model.gate("resuming").open();
    await world.ended(id);
  });

  test("of a cancelled task, and with an empty prompt", async () => {
    const parent = await world.parent();
    const id = await parent.launch([gate("stop"), say("x")]);
    await model.gate("stop").reached;
    await parent.ask("cancel", { task_id: id });
    expect(await parent.ask("task", { resume: id, prompt: "p" })).toMatch(/status "cancelled"/);
    expect(await parent.ask("task", { resume: id, prompt: "" })).toMatch(/prompt is empty/);
  });
});

describe("cancel", () => {
  test("of an ended task, of nothing, and of too much", async () => {
    const parent = await world.parent();
    const id = await parent.launch([say("x")]);
    await parent.notice(id);
    await refuses(parent, "cancel", { task_id: id }, /has already ended \(completed\)/);
    await refuses(parent, "cancel", {}, /Give one of task_id, batch, or all/);
    await refuses(parent, "cancel", { task_id: id, all: true }, /Give one of/);
    await refuses(parent, "cancel", { all: true }, /Nothing was running/);
  });
});

test("a page that does not exist, and an invalid time", async () => {
  const parent = await world.parent();
  const id = await parent.launch([say("short")]);
  await world.ended(id);
  expect(await parent.ask("output", { task_id: id, page: 9 })).toMatch(/There is no page 9/);
  expect(await parent.ask("output", { task_id: id, block: true, timeout: -1 })).toMatch(/timeout must be/);
});

test("a wait that times out says so, and the task continues", async () => {
  const parent = await world.parent();
  const id = await parent.launch([gate("slow"), say("x")]);
  const answer = await parent.ask("output", { task_id: id, block: true, timeout: 50 });
  expect(answer).toContain("Time ran out after 50 ms");
  expect((await world.task(id)).status).toBe("running");
  model.gate("slow").open();
  await world.ended(id);
});

test("a storage folder that is not writable: OpenCode starts, and the tools say what to do", async () => {
  const root = await createTemporaryRoot();
  writeFileSync(join(root, "file"), "");
  const { startOpenCode } = await import("../../src/testing/opencode/harness.ts");
  const { PLUGIN } = await import("./world.ts");
  const env = { ASYNCAGENTS_HOME: join(root, "file", "below") };
  const opencode = await startOpenCode({ model, plugin: [[PLUGIN, {}]], env });
  try {
    const { id } = await opencode.createSession({ title: "parent" });
    const script = world.script(
      { type: "toolCalls", text: "", calls: [{ name: "asyncagents_task", input: good }] },
      say("ok"),
    );
    await opencode.prompt(id, `${script} go`);
    const parts = (await opencode.messages(id)).flatMap((message) => message.parts);
    const [answer] = parts.flatMap((part) =>
      part.type === "tool" && part.state.status === "completed" ? [part.state.output] : [],
    );
    expect(answer).toContain("Error (store_unavailable)");
    expect(answer).toContain(env.ASYNCAGENTS_HOME);
    expect(await opencode.client.children(id)).toEqual([]);
  } finally {
    await opencode.stop();
  }
});
