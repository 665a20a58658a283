/** Launches with a worktree through the daemon: over HTTP and as a model does it, with the scripted agent. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import { findDaemon } from "../../src/daemon/find-daemon.ts";
import { cliWorld, makeRepo } from "../cli/cli-bed.ts";

async function daemonWorld() {
  const world = cliWorld();
  await world.json("up");
  const daemon = findDaemon(world.data);
  if (!daemon) throw new Error("no daemon");
  const repo = makeRepo(join(world.work, "shop"));
  return { ...world, repo, client: createClient({ url: daemon.url, token: daemon.token }) };
}

test("POST /v1/tasks with worktree works in a worktree, and the task says what it changed", async () => {
  const { client, repo, cli } = await daemonWorld();
  const body = { description: "Writes", prompt: "!write made.txt yes\n!say done", host: "scripted", directory: repo };
  const { id, directory } = await client.launch({ ...body, worktree: true });
  expect((await cli("wait", id)).code).toBe(0);
  expect(readFileSync(join(directory, "made.txt"), "utf8")).toContain("yes");
  expect(existsSync(join(repo, "made.txt"))).toBe(false);
  const { changes } = await client.task(id);
  expect(changes).toMatchObject({
    path: directory,
    repo,
    targetBranch: "main",
    fileCount: 1,
    files: ["made.txt"],
    uncommittedCount: 1,
    conflicts: [],
  });
  expect((await cli("show", id)).out).toContain("It changed 1 file");
  const plain = await client.launch({ ...body, prompt: "!say plain" });
  expect((await client.task(plain.id)).changes).toBeNull();
}, 60_000);

test("launch_task with worktree gives the place, and wait_tasks what was changed; without a repository it is refused", async () => {
  const { client, repo, work } = await daemonWorld();
  writeFileSync(join(repo, "readme.txt"), "not committed\n");
  const input = { prompt: "!write readme.txt mine\n!say done", directory: repo, executor: "SCRIPTED", worktree: true };
  const { handle, worktree, warnings } = await client.operate("launch_task", input);
  expect(worktree?.branch).toStartWith("asyncagents/");
  expect(warnings).toEqual([expect.stringContaining("has uncommitted changes (readme.txt)")]);
  const { tasks } = await client.operate("wait_tasks", { handles: [handle], wait_ms: 20_000 });
  expect(tasks[0]?.changes).toContain(
    `in its worktree ${worktree?.directory}, on branch ${worktree?.branch}: readme.txt.`,
  );
  expect(readFileSync(join(repo, "readme.txt"), "utf8")).toBe("not committed\n");
  await expect(client.operate("launch_task", { ...input, directory: work })).rejects.toThrow(
    "A task can have a worktree only in a git repository.",
  );
  await expect(client.operate("launch_task", { ...input, queue: {} })).rejects.toThrow(
    "worktree excludes queue and after",
  );
  await expect(client.operate("launch_task", { ...input, after: [handle] })).rejects.toThrow("worktree excludes");
}, 60_000);
