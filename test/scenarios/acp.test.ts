/**
 * An ACP agent as people and models use it: the real Codex on a scripted model, through the command line, the board and
 * MCP. After every scenario nothing of it is left.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findDaemon } from "../../src/daemon/find-daemon.ts";
import * as model from "../../src/testing/models/script.ts";
import { cliWorld } from "../cli/cli-bed.ts";
import { codex } from "../hosts/acp/agents/codex.ts";
import type { PreparedAgent } from "../hosts/acp/agents/tested-agent.ts";
import { commandOf, leftProcesses, processesOf } from "../hosts/acp/left-processes.ts";
import { DaemonBed } from "../mcp/daemon-bed.ts";
import { TaskClient } from "../mcp/tasks/task-client.ts";

const PATIENCE = 120_000;
const world = cliWorld();
const own = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-acp-")));
let agent: PreparedAgent;

beforeAll(async () => {
  mkdirSync(join(own, "home"));
  agent = await codex.prepare({ home: join(own, "home"), directory: world.work });
  // Its own HOME, so that its processes can be told from the daemon's.
  const environment = { ...agent.environment, HOME: join(own, "home") };
  mkdirSync(world.data, { mode: 0o700 });
  const known = { codex: { ...agent.settings, environment } };
  writeFileSync(join(world.data, "asyncagents.json"), JSON.stringify({ agents: { known } }), { mode: 0o600 });
  Object.assign(world.environment, { PATH: agent.environment.PATH });
});
afterAll(async () => {
  await agent.model.stop();
  rmSync(own, { recursive: true, force: true });
});

const check = (title: string, work: () => Promise<void>) => test(title, work, PATIENCE);

let scripts = 0;
function script(...steps: model.Script): string {
  const name = `acp-${++scripts}`;
  agent.model.script(name, steps);
  return model.scriptMarker(name);
}

const shell = (cmd: string) => model.call("exec_command", { cmd, yield_time_ms: 250_000 });
const run = (prompt: string, ...more: string[]) => world.cli("run", "--host", "acp:codex", ...more, prompt);

async function atWork(name: string): Promise<void> {
  for (let round = 0; round < 300; round++) {
    if (processesOf(own).some((pid) => commandOf(pid).startsWith(name))) return;
    await Bun.sleep(100);
  }
  throw new Error(`${name} was not started`);
}

check("a task succeeds, is resumed, and its conversation is shown", async () => {
  const done = await run(script(shell("echo hello"), model.say("it said hello")), "--wait");
  expect([done.code, done.out.trim()]).toEqual([0, "it said hello"]);
  const { tasks } = await world.json<{ tasks: { id: string; host: string; agent: string }[] }>("ls");
  expect(tasks[0]).toMatchObject({ host: "acp", agent: "codex" });
  const id = tasks[0]?.id ?? "";
  const again = await world.cli("resume", id, script(model.say("and again")), "--wait");
  expect([again.code, again.out.trim()]).toEqual([0, "and again"]);
  expect((await world.cli("logs", id)).out).toContain("it said hello");
  expect(await leftProcesses(own)).toEqual([]);
});

check("a failed model and an empty answer are errors", async () => {
  const failed = await run(script(model.fail(400, "no such model")), "--wait");
  expect([failed.code, failed.err]).toEqual([1, expect.stringContaining("no such model")]);
  const empty = await run(script(model.empty(), model.empty(), model.empty()), "--wait");
  expect([empty.code, empty.err]).toEqual([1, expect.stringContaining("ended without output")]);
});

check("a permission is answered, and a task is cancelled with the shell of its tool", async () => {
  const asked = await run(script(codex.touch("asked.txt"), model.say("thanks")));
  const id = asked.out.trim();
  const waiting = world.start(["wait", id]);
  await waiting.said("touch asked.txt");
  expect((await world.cli("answer", id, "--once")).code).toBe(0);
  expect((await waiting.ended).code).toBe(0);
  const long = (await run(script(shell("sleep 621"), model.say("unheard")))).out.trim();
  await atWork("sleep 621");
  expect((await world.cli("cancel", long)).code).toBe(0);
  await world.cli("wait", long);
  expect(await world.json("show", long)).toMatchObject({ status: "cancelled" });
  expect(await leftProcesses(own)).toEqual([]);
});

check("a daemon that is killed in mid-turn leaves nothing, and its task was interrupted", async () => {
  const id = (await run(script(shell("sleep 622"), model.say("unheard")))).out.trim();
  await atWork("sleep 622");
  process.kill(findDaemon(world.data)?.pid ?? 0, "SIGKILL");
  expect(await leftProcesses(own)).toEqual([]);
  await world.cli("up");
  await world.cli("wait", id);
  const task = await world.json<{ status: string; error: string }>("show", id);
  expect([task.status, task.error]).toEqual(["error", expect.stringContaining("interrupted")]);
});

check("agents are listed, checked, and refused with what to do", async () => {
  const { agents } = await world.json<{ agents: { name: string; installed: boolean; checked: object }[] }>(
    "agents",
    "--check",
    "codex",
  );
  expect(agents).toMatchObject([{ name: "codex", installed: true, checked: { continues: "resume", problem: null } }]);
  const all = await world.cli("agents");
  expect(all.out).toContain("not installed");
  const refused = await world.cli("run", "--host", "acp:auggie", "x");
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("npm install -g @augmentcode/auggie")]);
  expect(await leftProcesses(own)).toEqual([]);
});

check("over MCP an agent is an executor, for tasks and for attempts of the board", async () => {
  const bed = await DaemonBed.start({ ...agent.environment, HOME: join(own, "home") });
  try {
    const client = await bed.stdio();
    const { executors } = await client.call("list_executors", {});
    const found = executors.find(({ executor }) => executor === "ACP:codex");
    expect(found).toMatchObject({
      available: true,
      problem: null,
      limits: expect.arrayContaining(["asks no questions"]),
    });
    const prompt = script(model.say("done over MCP"));
    const { handle } = await client.call("launch_task", { prompt, executor: "ACP:codex", directory: bed.repository });
    const ended = await client.call("wait_tasks", { handles: [handle], wait_ms: 50_000 });
    expect(JSON.stringify(ended)).toContain("done over MCP");
    // Its handle is a UUID, as an attempt's is. A program that follows it is told of its end, and may cancel it.
    const program = TaskClient.http(bed);
    const launch = (steps: string) => ({ prompt: steps, executor: "ACP:codex", directory: bed.repository });
    const followed = await program.call("launch_task", launch(script(model.say("read as an MCP task"))));
    const { result } = await program.ended(followed.taskId);
    expect(result?.structuredContent).toMatchObject({ handle: followed.taskId, result: "read as an MCP task" });
    const long = await program.call("launch_task", launch(script(shell("sleep 623"), model.say("unheard"))));
    await atWork("sleep 623");
    await program.cancel(long.taskId);
    expect(await program.ended(long.taskId)).toMatchObject({ status: "cancelled" });
    const { project_id, repos } = await bed.person("add_project", { name: "p", repos: [bed.repository] });
    const text = script(shell("echo made > made.txt"), model.say("made it"));
    const { task_id } = await client.call("create_task", { project_id, title: "Make", description: text });
    const { attempt_id } = await client.call("start_task_attempt", {
      task_id,
      executor: "ACP:codex",
      repos: [{ repo_id: repos[0]?.repo_id ?? "", target_branch: "main" }],
    });
    const attempt = await client.call("get_attempt", { attempt_id, wait_ms: 50_000 });
    expect(JSON.stringify(attempt)).toContain("made it");
  } finally {
    await bed.stop();
  }
  expect(await leftProcesses(own)).toEqual([]);
});
