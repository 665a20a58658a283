import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import type { OperationInput } from "../../src/protocol/operations.ts";
import { markedAt, rewrite } from "../../src/worktree/mark.ts";
import { sh, traceOf } from "../worktree/git-bed.ts";
import { attemptOf, boardBed, type Place, projectOn, runsOf, wait, whenAttempt } from "./board-bed.ts";
import type { Side } from "./board-side.ts";

const children: Bun.Subprocess<"ignore", "pipe", "inherit">[] = [];
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(children.map(({ exited }) => exited));
});
const bed = boardBed();

/** A project in a folder that no process has open any more, with a task in it. */
async function prepared(description: string, more: object = {}) {
  const side = await bed.side();
  const place = await projectOn(side, bed.git, 1, more);
  const { task_id } = await side.call("create_task", { project_id: place.project_id, title: "Try it", description });
  await side.close();
  const input: OperationInput<"start_task_attempt"> = { task_id, executor: "SCRIPTED", repos: place.repos };
  return { folder: side.folder, place, input, task_id };
}

function child(folder: string, input: object, prompts: string[] = [], environment: Record<string, string> = {}) {
  const command = [
    process.execPath,
    join(import.meta.dir, "board-child.ts"),
    folder,
    JSON.stringify(input),
    ...prompts,
  ];
  const started = Bun.spawn(command, {
    env: { ...process.env, ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  children.push(started);
  return started;
}

/** The next process: like the daemon, it starts the board first and then cleans up after dead processes. */
async function restarted(folder: string): Promise<Side> {
  const side = await bed.side(folder);
  void side.runner.recover();
  return side;
}

/** Resolves when the file exists. */
function appears(file: string): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!existsSync(file)) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(dirname(file), look);
    look();
  });
}

const attemptsOf = async (side: Side, task_id: string) => (await side.call("list_task_attempts", { task_id })).attempts;
const branches = ({ paths }: Place) => sh(paths[0] ?? "", "branch", "--list").split("\n");

describe("kill -9 of the board's process", () => {
  test("while an attempt runs and two follow-ups are queued: nothing is lost, and the queue continues in order", async () => {
    const { folder, input, task_id, place } = await prepared("!write kept.txt work\n!wait never");
    const killed = child(folder, input, ["!write one.txt 1", "!say two"]);
    const { value } = await killed.stdout.getReader().read();
    await appears(join(new TextDecoder().decode(value), "kept.txt"));
    killed.kill("SIGKILL");
    await killed.exited;
    const side = await restarted(folder);
    const [attempt] = await attemptsOf(side, task_id);
    const attempt_id = attempt?.attempt_id ?? "";
    const ended = await whenAttempt(side, attempt_id, ({ state, queued }) => state === "completed" && queued === 0);
    expect(await runsOf(side, attempt_id)).toEqual([
      "Try it\n\n!write kept.txt work\n!wait never: error",
      "!write one.txt 1: completed",
      "!say two: completed",
    ]);
    expect(ended.final_message).toBe("two");
    expect(readdirSync(ended.repos[0]?.path ?? "").sort()).toEqual([".git", "a.txt", "kept.txt", "one.txt"]);
    expect((await side.call("get_task", { task_id })).task).toMatchObject({
      status: "inreview",
      has_in_progress_attempt: false,
      last_attempt_failed: false,
    });
    expect(branches(place)).toHaveLength(2);
    await side.call("merge_attempt", { attempt_id });
    expect(branches(place)).toHaveLength(1);
  }, 60_000);

  test("while an attempt is being set up: it is rolled back and marked, and the next one works", async () => {
    const gate = bed.git.folder();
    const { folder, input, task_id, place } = await prepared("!say ok", {
      setup: `echo $$ > "${gate}/pid"; sleep 300`,
    });
    const before = traceOf(place.paths[0] ?? "");
    const killed = child(folder, { ...input, request_id: "once" });
    await appears(join(gate, "pid"));
    killed.kill("SIGKILL");
    await killed.exited;
    const side = await restarted(folder);
    const [attempt] = await attemptsOf(side, task_id);
    const attempt_id = attempt?.attempt_id ?? "";
    expect(await side.call("get_attempt", { attempt_id })).toMatchObject({
      state: "failed",
      session_id: null,
      error: expect.stringContaining("interrupted while it was set up"),
    });
    expect(traceOf(place.paths[0] ?? "")).toEqual(before);
    expect(readdirSync(side.worktrees)).toEqual([".marks"]);
    const again = side.call("start_task_attempt", { ...input, request_id: "once" });
    expect(await again.catch(({ code }) => code)).toBe("request_conflict");
    expect((await side.call("get_task", { task_id })).task).toMatchObject({
      status: "todo",
      has_in_progress_attempt: false,
      last_attempt_failed: true,
    });
    await whenGone(Number(readFileSync(join(gate, "pid"), "utf8")));
  }, 60_000);

  test("after the task was launched but before its session was written: recovery writes the session", async () => {
    const { folder, input, task_id } = await prepared("!write kept.txt work\n!wait never");
    const killed = child(folder, input, [], { KILL_AT_SESSION: "1" });
    await killed.exited;
    const side = await restarted(folder);
    const [attempt] = await attemptsOf(side, task_id);
    expect(attempt?.latest_session_id).not.toBeNull();
    const attempt_id = attempt?.attempt_id ?? "";
    const ended = await whenAttempt(side, attempt_id, ({ state }) => state === "failed");
    expect(ended.error).toContain("interrupted");
    await side.call("follow_up", { attempt_id, action: "send", prompt: "!say goes on" });
    const next = await whenAttempt(side, attempt_id, ({ state }) => state === "completed");
    expect(next).toMatchObject({ final_message: "goes on", error: null });
  }, 60_000);
});

test("leftovers of an interrupted removal are cleared at the next start, and everything else stays", async () => {
  const first = await bed.side();
  const place = await projectOn(first, bed.git);
  const ids: string[] = [];
  for (const name of ["one", "two"]) {
    const { attempt_id } = await attemptOf(first, place, `!write ${name}.txt x`);
    await wait(first, attempt_id);
    ids.push(attempt_id);
  }
  const [one = "", two = ""] = ids;
  const { repos } = await first.call("get_attempt", { attempt_id: one });
  await first.call("merge_attempt", { attempt_id: one, keep: true });
  const marked = markedAt(repos[0]?.path ?? "");
  if (!marked) throw new Error("it has no mark");
  rewrite({ ...marked, mark: { ...marked.mark, stage: "removing" } });
  await first.close();
  const side = await restarted(first.folder);
  expect(existsSync(marked.path)).toBe(false);
  const send = side.call("follow_up", { attempt_id: one, action: "send", prompt: "x" });
  expect(await send.catch(({ code }) => code)).toBe("worktree_not_found");
  expect(await side.call("get_attempt", { attempt_id: one })).toMatchObject({
    state: "merged",
    repos: [{ path: null }],
  });
  expect(await side.call("get_attempt", { attempt_id: two })).toMatchObject({
    state: "completed",
    repos: [{ files: 1 }],
  });
});

/** Resolves when the process is gone. It was told to exit, but nothing reports when it has. */
async function whenGone(pid: number): Promise<void> {
  for (let round = 0; round < 500 && isAlive(pid); round++) await Bun.sleep(20);
  expect(isAlive(pid)).toBe(false);
}

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
