/**
 * The real OpenCode and the real Claude CLI as MCP clients: their scripted models call the tools over stdio, and the
 * requests that reach those models show what the definitions cost.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openClaude } from "../../src/claude/session/open-claude.ts";
import { BOARD_OPERATIONS } from "../../src/protocol/operations.ts";
import { claudeEnvironment } from "../../src/testing/claude-home.ts";
import { startAnthropicModel } from "../../src/testing/models/anthropic-model.ts";
import type { ModelRequest } from "../../src/testing/models/model-request.ts";
import { startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { call, type Script, say, scriptMarker } from "../../src/testing/models/script.ts";
import { startOpenCode } from "../../src/testing/opencode/harness.ts";
import { COMMAND, DaemonBed, mcpArguments } from "./daemon-bed.ts";

/** What the definitions may add to a model's request, in bytes. */
const LIMITS = { core: 16_000, extended: 24_000 };

let bed: DaemonBed;
beforeAll(async () => {
  bed = await DaemonBed.start();
  const tools = await bed.http();
  const { project_id } = await tools.call("add_project", { name: "Shop" });
  await tools.call("add_repo", { project_id, path: bed.repository });
});
afterAll(() => bed?.stop());

/** The id that the newest answer has for that name, in compact text and in JSON alike. */
function idIn(request: ModelRequest, name: string): string {
  return request.fromToolResults(new RegExp(`\\b${name}"?: ?"?([0-9a-f]{8}-[0-9a-f-]{27})`));
}

/** The first id in the answer of a tool that lists. */
function firstId(request: ModelRequest, tool: string): string {
  return request.fromToolResults(/([0-9a-f]{8}-[0-9a-f-]{27})/, tool);
}

/** Every tool of the first set that needs no context, from knowing nothing to a result, as a model would proceed. */
function story(prefix: string, title: string): Script {
  const named = (name: string) => `${prefix}${name}`;
  const project = (seen: ModelRequest) => ({ project_id: firstId(seen, named("list_projects")) });
  const attempt = (seen: ModelRequest) => ({ attempt_id: idIn(seen, "attempt_id") });
  const task = (seen: ModelRequest) => ({ task_id: idIn(seen, "task_id") });
  const repos = (seen: ModelRequest) => [{ repo_id: firstId(seen, named("list_repos")), target_branch: "main" }];
  const description = "!write done.txt yes\n!say It is done.";
  return [
    call(named("list_projects")),
    call(named("list_repos"), project),
    call(named("create_task"), (seen) => ({ ...project(seen), title: "Not needed" })),
    call(named("delete_task"), task),
    call(named("create_task"), (seen) => ({ ...project(seen), title, description })),
    call(named("start_task_attempt"), (seen) => ({ ...task(seen), executor: "SCRIPTED", repos: repos(seen) })),
    call(named("get_attempt"), (seen) => ({ ...attempt(seen), wait_ms: 20_000 })),
    call(named("list_tasks"), (seen) => ({ ...project(seen), status: "inreview" })),
    call(named("list_task_attempts"), task),
    call(named("get_task"), task),
    call(named("update_task"), (seen) => ({ ...task(seen), status: "done" })),
    call(named("follow_up"), (seen) => ({ ...attempt(seen), action: "send", prompt: "--!say is no option" })),
    say("all done"),
  ];
}

/** What the model was told in that story, and what the board has stored of it. */
async function checkStory(results: string[], title: string): Promise<void> {
  const tools = await bed.http();
  const { projects } = await tools.call("list_projects", {});
  const { tasks } = await tools.call("list_tasks", { project_id: projects[0]?.id ?? "" });
  const task = tasks.find((one) => one.title === title);
  if (!task?.latest_attempt_id || !task.latest_session_id) throw new Error(`No attempt: ${results.join("\n\n")}`);
  const { latest_attempt_id: attempt, latest_session_id: session } = task;
  const expected = [
    ["Shop"],
    ["my shop ü"],
    ["task_id"],
    ["deleted_task_id"],
    [task.id],
    [task.id, attempt],
    [session, "completed", "It is done."],
    [task.id, title, attempt, session, "SCRIPTED"],
    [attempt, session],
    [title, "!write done.txt yes"],
    ["done"],
    [session, "send"],
  ];
  expect(results).toHaveLength(expected.length);
  for (const [index, words] of expected.entries()) {
    for (const word of words) expect(results[index]).toContain(word);
  }
  expect(tasks.map((one) => one.title)).not.toContain("Not needed");
}

test("OpenCode calls the tools over stdio, and their definitions stay small [MT-F-01]", async () => {
  const model = startOpenAiModel();
  const without = (tools: string[]) => ({
    mode: "primary",
    tools: Object.fromEntries(tools.map((name) => [`asyncagents_${name}`, false])),
  });
  const second = Object.entries(BOARD_OPERATIONS).flatMap(([name, { toolset }]) =>
    toolset === "extended" ? [name] : [],
  );
  const command = [COMMAND, ...mcpArguments()];
  const opencode = await startOpenCode({
    model,
    config: {
      // A busy machine takes longer than OpenCode's five seconds.
      mcp: { asyncagents: { type: "local", command, environment: bed.environment, timeout: 30_000 } },
      agent: { none: without(["*"]), core: without(second), extended: without([]) },
    },
  });
  try {
    const ask = async (agent: string, script: Script) => {
      model.script(agent, script);
      const session = await opencode.createSession();
      await opencode.prompt(session.id, `${scriptMarker(agent)} go`, { agent });
      return model.requestsOf(session.id);
    };
    const [none] = await ask("none", [say("ok")]);
    const [core] = await ask("core", [say("ok")]);
    const all = await ask("extended", story("asyncagents_", "By OpenCode"));
    expectCosts(none?.bytes, core?.bytes, all[0]?.bytes);
    await checkStory(all.at(-1)?.request.toolResults() ?? [], "By OpenCode");
  } finally {
    await opencode.stop();
    await model.stop();
  }
});

test("Claude calls the tools over stdio, and their definitions stay small [MT-F-01]", async () => {
  const model = startAnthropicModel();
  const home = await claudeEnvironment({ model });
  try {
    const ask = async (name: string, script: Script, args: string[] | null) => {
      model.script(name, script);
      const from = model.requests.length;
      const server = { type: "stdio" as const, command: COMMAND, args: args ?? [], env: bed.environment };
      const session = await openClaude({
        cwd: home.directory,
        env: home.environment,
        prompt: `${scriptMarker(name)} go`,
        permissionMode: "bypassPermissions",
        allowDangerouslySkipPermissions: true,
        ...(args && { mcpServers: { asyncagents: server } }),
      });
      try {
        for await (const _message of session);
      } finally {
        await session.close();
      }
      return model.requests.slice(from).filter(({ kind }) => kind === "turn");
    };
    const [none] = await ask("none", [say("ok")], null);
    const [core] = await ask("core", [say("ok")], mcpArguments("--tools", "core"));
    const all = await ask("extended", story("mcp__asyncagents__", "By Claude"), mcpArguments());
    expectCosts(none?.bytes, core?.bytes, all[0]?.bytes);
    await checkStory(all.at(-1)?.request.toolResults() ?? [], "By Claude");
  } finally {
    await model.stop();
    await home.remove();
  }
});

function expectCosts(none = 0, core = 0, extended = 0): void {
  expect(core - none).toBeGreaterThan(5_000);
  expect(core - none).toBeLessThan(LIMITS.core);
  expect(extended - core).toBeGreaterThan(5_000);
  expect(extended - none).toBeLessThan(LIMITS.extended);
}
