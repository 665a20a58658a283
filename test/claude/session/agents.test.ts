import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentDefinition } from "../../../src/claude/session/agent-definition.ts";
import type { MessagesRequest } from "../../../src/testing/models/messages-request.ts";
import { call, calls, say } from "../../../src/testing/models/script.ts";
import { agentInput, claudeBed, closeBeds, follow } from "../claude-bed.ts";
import { CLI } from "./altered-cli.ts";

setDefaultTimeout(60_000);
afterEach(closeBeds);

/** A minimal server of the Model Context Protocol with one tool. */
const SERVER = `
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "weigh", description: "Weighs", inputSchema: { type: "object" } }] }),
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method] ? answers[method](params) : {};
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
});
`;

/** The real CLI, with its input copied to a file: this CLI accepts the critical reminder and shows it to no model. */
function overheard(folder: string, file: string): string {
  const path = join(folder, "overheard-claude");
  writeFileSync(path, `#!/bin/sh\ntee '${file}' | '${CLI}' "$@"\n`, { mode: 0o755 });
  return path;
}

const textOf = (request: MessagesRequest) => JSON.stringify(request.body);

describe("an agent's definition", () => {
  test("reaches the real CLI with every field [CT-07]", async () => {
    const { model, home, open } = await claudeBed();
    const server = join(home.root, "server.cjs");
    writeFileSync(server, SERVER);
    const skill = join(home.directory, ".claude", "skills", "weighing");
    mkdirSync(skill, { recursive: true });
    writeFileSync(join(skill, "SKILL.md"), "---\nname: weighing\ndescription: How to weigh\n---\nSKILL-TEXT-9\n");
    const analyzer: AgentDefinition = {
      description: "DESCRIPTION-1 of the analyzer",
      prompt: "PROMPT-2 of the analyzer",
      tools: ["Bash", "Read", "Skill", "mcp__scale__weigh"],
      disallowedTools: ["Read"],
      model: "haiku",
      mcpServers: [{ scale: { command: "node", args: [server] } }],
      skills: ["weighing"],
      maxTurns: 2,
      criticalSystemReminder_EXPERIMENTAL: "REMINDER-8",
    };
    model.script("main", [
      call("Agent", agentInput("child", { subagent_type: "analyzer" })),
      say("begun"),
      say("noted"),
    ]);
    model.script(
      "child",
      Array.from({ length: 5 }, () => call("Bash", { command: "true", description: "x" })),
    );
    const heard = join(home.root, "heard.jsonl");
    const claude = await open({
      agents: { analyzer },
      settingSources: ["project"],
      pathToClaudeCodeExecutable: overheard(home.root, heard),
    });
    await claude.send(follow("main"));
    const [task] = claude.tasks.list();
    await task?.wait();

    const main = model.requestsOf(claude.sessionId ?? "")[0]?.request;
    const child = model.requestsOf(task?.id ?? "").map(({ request }) => request);
    const [first] = child;
    if (!main || !first) throw new Error("Requests are missing.");
    const told = readFileSync(heard, "utf8")
      .split("\n")
      .filter((line) => line.includes("initialize"));
    expect(JSON.parse(told[0] ?? "{}").request.agents).toEqual({ analyzer });

    expect(textOf(main).includes("DESCRIPTION-1 of the analyzer")).toBe(true);
    expect(JSON.stringify(first.body.system)).toContain("PROMPT-2 of the analyzer");
    expect(first.toolNames).toEqual(expect.arrayContaining(["Bash", "mcp__scale__weigh"]));
    expect(first.toolNames).not.toContain("Read");
    expect(first.toolNames).not.toContain("Write");
    expect([main.body.model, first.body.model].map((name) => /haiku/.test(name))).toEqual([false, true]);
    expect(textOf(first).includes("SKILL-TEXT-9")).toBe(true);
    expect(child).toHaveLength(2);
  });

  test("that is wrong is rejected before anything starts", async () => {
    const { model, open } = await claudeBed();
    const failure = await open({ agents: { odd: { description: "", prompt: "x" } } }).catch((thrown) => thrown);
    expect([failure.code, failure.message]).toEqual(["invalid_input", expect.stringContaining("odd")]);
    expect(model.requests).toHaveLength(0);
  });
});

test("models with a large window and of a gateway reach the requests of their agents", async () => {
  const { model, open } = await claudeBed();
  const models = { large: "sonnet[1m]", gateway: { custom: "our-gateway/fast" } } as const;
  const names = Object.keys(models);
  model.script("main", [
    calls(names.map((name) => ({ name: "Agent", input: agentInput(name, { subagent_type: name }) }))),
    ...Array.from({ length: 4 }, () => say("noted")),
  ]);
  for (const name of names) model.script(name, [say("done")]);
  const agents = Object.fromEntries(
    Object.entries(models).map(([name, given]) => [name, { description: name, prompt: name, model: given }]),
  );
  const claude = await open({ agents });
  await claude.send(follow("main"));
  const tasks = claude.tasks.list();
  await Promise.all(tasks.map((task) => task.wait()));
  const used = tasks.map((task) => model.requestsOf(task.id)[0]?.request.body.model);
  expect(used).toEqual([expect.stringContaining("sonnet"), "our-gateway/fast"]);
});

describe("the switch for Claude's task tools", () => {
  test.each([
    [true, ["TaskCreate"]],
    [false, ["TodoWrite"]],
  ])("set to %p gives the model %p [CT-22]", async (enableTasks, expected) => {
    // Newer models have neither tool by default; this brings them back, and the switch chooses.
    const { model, open } = await claudeBed({ CLAUDE_CODE_ENABLE_TODO_TOOLS: "1" });
    model.script("main", [say("hello")]);
    const claude = await open({ enableTasks });
    await claude.send(follow("main"));
    const names = model.requestsOf(claude.sessionId ?? "")[0]?.request.toolNames ?? [];
    expect(names.filter((name) => ["TaskCreate", "TodoWrite"].includes(name))).toEqual(expected);
  });
});
