/**
 * The whole story of the board on the real OpenCode, through a real MCP client and with real git: from a project to
 * the merged change; an attempt on the real Claude CLI; and what happens to an attempt and its queue when the daemon
 * is killed halfway.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { OperationOutput } from "../../src/protocol/operations.ts";
import { type ClaudeHome, claudeEnvironment } from "../../src/testing/claude-home.ts";
import { type AnthropicModel, startAnthropicModel } from "../../src/testing/models/anthropic-model.ts";
import { type OpenAiModel, startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { call, gate, type Script, say, scriptMarker } from "../../src/testing/models/script.ts";
import { openCodeBinary } from "../../src/testing/opencode/binary.ts";
import { prepareHome } from "../../src/testing/opencode/home.ts";
import { cleanEnvironment } from "../../src/testing/opencode/process.ts";
import { DaemonBed, type Tools } from "../mcp/daemon-bed.ts";

const WAIT = 50_000;

let model: OpenAiModel;
let anthropic: AnthropicModel;
let claude: ClaudeHome;
let bed: DaemonBed;
let tools: Tools;
let project_id = "";
let repo_id = "";
let scripts = 0;

beforeAll(async () => {
  model = startOpenAiModel();
  anthropic = startAnthropicModel();
  claude = await claudeEnvironment({ model: anthropic });
  const {
    HOME: _home,
    TMPDIR: _temporary,
    ...environment
  } = {
    ...cleanEnvironment("", { ASYNCAGENTS_OPENCODE: openCodeBinary() }),
    ...claude.environment,
  };
  bed = await DaemonBed.start(environment);
  await prepareHome(join(bed.root, "home"), { model });
  tools = await bed.stdio();
  ({ project_id } = await tools.call("add_project", { name: "Shop" }));
  ({ repo_id } = await tools.call("add_repo", { project_id, path: bed.repository }));
});
afterAll(async () => {
  await bed?.stop();
  await model?.stop();
  await anthropic?.stop();
  await claude?.remove();
});

/** A prompt that the model answers with these steps. */
const prompt = (...steps: Script) => promptFor(model, steps);

function promptFor(answering: Pick<OpenAiModel, "script">, steps: Script): string {
  const name = `story-${scripts++}`;
  answering.script(name, steps);
  return scriptMarker(name);
}

const write = (filePath: string, content: string) => call("write", { filePath, content });

async function start(title: string, description: string, executor = "opencode") {
  const { task_id } = await tools.call("create_task", { project_id, title, description });
  const repos = [{ repo_id, target_branch: "main" }];
  const { attempt_id } = await tools.call("start_task_attempt", { task_id, executor, repos });
  return { task_id, attempt_id };
}

/** The state of the attempt once nothing of it runs or is queued. */
async function settled(attempt_id: string): Promise<OperationOutput<"get_attempt">> {
  for (;;) {
    const attempt = await tools.call("get_attempt", { attempt_id, wait_ms: WAIT });
    if (!["starting", "running"].includes(attempt.state) && attempt.queued_count === 0) return attempt;
  }
}

function git(...args: string[]): string {
  return Bun.spawnSync(["git", ...args], { cwd: bed.repository })
    .stdout.toString()
    .trim();
}

test("from a project to the merged change [MT-05.1, MT-02.1]", async () => {
  const { task_id, attempt_id } = await start(
    "Sell pears",
    prompt(write("pears.txt", "one pear\n"), say("pears are there")),
  );
  const first = await settled(attempt_id);
  expect(first).toMatchObject({ state: "completed", final_message: "pears are there", executor: "OPENCODE" });
  expect(first.repos).toMatchObject([{ target_branch: "main", files: 1, insertions: 1, uncommitted: 1 }]);
  expect(existsSync(join(bed.repository, "pears.txt"))).toBe(false);

  const { tasks } = await tools.call("list_tasks", { project_id, status: "inreview" });
  const { latest_session_id } = first.session_id
    ? { latest_session_id: first.session_id }
    : { latest_session_id: null };
  expect(tasks).toMatchObject([
    { id: task_id, latest_attempt_id: attempt_id, latest_session_id, last_attempt_failed: false },
  ]);
  const listed = await tools.call("list_task_attempts", { task_id });
  expect(listed).toMatchObject({ count: 1, latest_attempt_id: attempt_id, latest_session_id });

  const given = listed.attempts[0]?.attempt_id ?? "";
  const sent = await tools.call("follow_up", {
    attempt_id: given,
    action: "send",
    prompt: prompt(gate("stock"), write("stock.txt", "12\n"), say("counted")),
  });
  expect(sent).toMatchObject({ session_id: latest_session_id, action: "send", run: 1, status: "empty" });
  await model.gate("stock").reachedBy(1);
  expect((await tools.call("get_task", { task_id })).task).toMatchObject({ status: "inprogress" });
  const busy = await tools.fails("follow_up", { attempt_id, action: "send", prompt: "too early" });
  expect(busy).toMatchObject({ code: "session_busy", success: false });
  const queued = await tools.call("follow_up", {
    session_id: latest_session_id ?? "",
    action: "queue",
    prompt: prompt(write("price.txt", "2\n"), say("priced")),
  });
  expect(queued).toMatchObject({ status: "queued", queued_count: 1 });
  model.gate("stock").open();
  const last = await settled(attempt_id);
  expect(last).toMatchObject({ state: "completed", final_message: "priced" });
  expect(last.log.map(({ text }) => text).filter((text) => text === "counted" || text === "priced")).toEqual([
    "counted",
    "priced",
  ]);

  const { repos } = await tools.call("get_attempt_diff", { attempt_id });
  expect(repos[0]).toMatchObject({ repo_id, files: 3, truncated: false });
  for (const line of ["+one pear", "+12", "+2"]) expect(repos[0]?.diff.split("\n")).toContain(line);

  const worktree = last.repos[0]?.path ?? "";
  expect(existsSync(worktree)).toBe(true);
  const merged = await tools.call("merge_attempt", { attempt_id, message: "Sell pears, at a price" });
  expect(merged).toMatchObject({
    removed: true,
    task_status: "done",
    merged: [{ target_branch: "main", changed: true }],
  });
  expect(git("rev-parse", "main")).toBe(merged.merged[0]?.commit ?? "");
  expect(await readFile(join(bed.repository, "price.txt"), "utf8")).toBe("2\n");
  expect([git("status", "--porcelain"), git("worktree", "list").split("\n").length]).toEqual(["", 1]);
  expect([existsSync(worktree), git("branch", "--list", "asyncagents/*")]).toEqual([false, ""]);
  expect(await tools.call("get_attempt", { attempt_id })).toMatchObject({ state: "merged" });
}, 120_000);

test("an attempt on the real Claude CLI: its edits are in the diff, and a follow-up knows what was said", async () => {
  let worktree = "";
  const edit = call("Write", () => ({ file_path: join(worktree, "figs.txt"), content: "figs\n" }));
  const first = promptFor(anthropic, [gate("figs"), edit, say("figs are there")]);
  const { task_id, attempt_id } = await start("Sell figs", first, "claude-code");
  worktree = (await tools.call("get_attempt", { attempt_id })).repos[0]?.path ?? "";
  await anthropic.gate("figs").reachedBy(1);
  anthropic.gate("figs").open();
  expect(await settled(attempt_id)).toMatchObject({
    state: "completed",
    final_message: "figs are there",
    executor: "CLAUDE_CODE",
    repos: [{ files: 1, insertions: 1 }],
  });
  const again = promptFor(anthropic, [say((request) => `said before: ${request.assistantTexts.join(", ")}`)]);
  await tools.call("follow_up", { attempt_id, action: "send", prompt: again });
  expect((await settled(attempt_id)).final_message).toMatch(/^said before: .*figs are there$/);
  expect((await tools.call("get_attempt_diff", { attempt_id })).repos[0]?.diff).toContain("+figs");
  await tools.call("delete_task", { task_id, force: true });
  expect(existsSync(worktree)).toBe(false);
}, 120_000);

test("after a kill -9 of the daemon the queue continues in order, and nothing is lost or left running", async () => {
  const { task_id, attempt_id } = await start(
    "Sell plums",
    prompt(write("plums.txt", "one\n"), gate("killed"), say("never said")),
  );
  await model.gate("killed").reachedBy(1);
  for (const name of ["first", "second"]) {
    const steps = [write(`${name}.txt`, name), say(`${name} is done`)];
    await tools.call("follow_up", { attempt_id, action: "queue", prompt: prompt(...steps) });
  }
  const before = processes();
  expect(before.filter((pid) => wordsOf(pid).includes("serve"))).toHaveLength(1);
  await bed.stopDaemon("SIGKILL");
  await gone(before.filter((pid) => !isClient(pid)));
  model.gate("killed").open();

  await bed.startDaemon();
  const after = await settled(attempt_id);
  expect(after).toMatchObject({ state: "completed", final_message: "second is done", queued_count: 0 });
  const texts = after.log.filter(({ role }) => role === "assistant").map(({ text }) => text);
  expect(texts.filter((text) => text.endsWith("is done"))).toEqual(["first is done", "second is done"]);
  expect(texts).not.toContain("never said");
  const worktree = after.repos[0]?.path ?? "";
  for (const [file, content] of Object.entries({
    "plums.txt": "one\n",
    "first.txt": "first",
    "second.txt": "second",
  })) {
    expect(await readFile(join(worktree, file), "utf8")).toBe(content);
  }
  expect((await tools.call("get_task", { task_id })).task).toMatchObject({ status: "inreview" });
  expect((await tools.call("list_tasks", { project_id, status: "inprogress" })).tasks).toEqual([]);
  await bed.stopDaemon();
  await gone(processes().filter((pid) => !isClient(pid)));
  await bed.startDaemon();
}, 180_000);

/** All processes of this daemon, and the MCP servers of its clients: their environment contains the data folder. */
function processes(): number[] {
  const mark = `ASYNCAGENTS_HOME=${join(bed.root, "data")}`;
  return readdirSync("/proc").flatMap((name) => {
    try {
      const carries = /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, "utf8").split("\0").includes(mark);
      return carries ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

function isClient(pid: number): boolean {
  return wordsOf(pid).includes("mcp");
}

/** A process's command line; empty if it is gone. */
function wordsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** No event reports that a process has exited, so the process table is polled until they are gone. */
async function gone(pids: readonly number[]): Promise<void> {
  while (pids.some((pid) => existsSync(`/proc/${pid}`))) await Bun.sleep(20);
}
