/**
 * Opening a host in a folder runs what the folder's configuration names. No reader has one opened, whether with a token
 * that may only read, or without any at the door to this machine, which pages of other loopback ports reach, too.
 */
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Task } from "../../../src/model/task.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { makeRepo } from "../../cli/cli-bed.ts";
import { startTokenBed, type TokenBed } from "../bed/token-bed.ts";

/** A task that has ended in a folder where nothing is open any more. */
async function endedTask(bed: TokenBed): Promise<Task> {
  const { runner, folder, store } = bed.side;
  const directory = join(folder, "work");
  mkdirSync(directory);
  const launch = { description: "x", prompt: "!say hello", agent: "general", host: "scripted", directory };
  const { id } = (await (await bed.post("/v1/tasks", launch, bed.secrets.admin)).json()) as { id: string };
  const task = await eventually(store, async () => {
    const found = await store.task(id);
    return found?.status === "completed" ? found : null;
  });
  await runner.release(directory);
  expect(runner.engines()).toEqual([]);
  return task;
}

test("a conversation is read where its host is open, and opened only for the owner", async () => {
  const bed = await startTokenBed();
  const { id } = await endedTask(bed);
  const path = `/v1/tasks/${id}/logs`;
  const local = (headers: Record<string, string> = {}) => fetch(`${bed.server.url}${path}`, { headers });
  const page = { origin: "http://localhost:3000", "sec-fetch-site": "same-site" };
  const readers = [
    () => bed.ask(path, bed.secrets.read),
    () => bed.ask(path, bed.secrets.launch),
    () => local(),
    () => local(page),
    () => local({ authorization: `Bearer ${bed.folderToken}`, "x-asyncagents-depth": "1" }),
  ];
  for (const read of readers) {
    const refused = await read();
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining(`asyncagents logs ${id}`)]);
  }
  expect(bed.side.runner.engines()).toEqual([]);
  expect((await local({ authorization: `Bearer ${bed.folderToken}` })).status).toBe(200);
  expect(bed.side.runner.engines()).toHaveLength(1);
  for (const read of readers) expect((await read()).status).toBe(200);
});

test("nobody below the owner has a host opened to tell a parent again, or to stop a task", async () => {
  const bed = await startTokenBed();
  const task = await endedTask(bed);
  expect((await bed.post(`/v1/tasks/${task.id}/tell`, {}, bed.secrets.launch)).status).toBe(503);
  const { store } = bed.side;
  const begun = { type: "task.resumed", at: Date.now(), prompt: "!say more", messageId: "m", owner: "gone" } as const;
  await store.apply(task.id, { ...begun, allow: [] });
  const cancelled = await bed.post(`/v1/tasks/${task.id}/cancel`, {}, bed.secrets.launch);
  expect([cancelled.status, (await store.task(task.id))?.cancelRequestedAt]).toEqual([200, expect.any(Number)]);
  expect((await bed.post("/v1/board/stop_launch", { handle: task.id }, bed.secrets.launch)).status).toBe(200);
  expect(bed.side.runner.engines()).toEqual([]);
});

test("an attempt is shown without its conversation to those who could not continue it", async () => {
  const bed = await startTokenBed();
  const { call, folder, runner } = bed.side;
  const { project_id } = await call("add_project", { name: "p" });
  const { repo_id } = await call("add_repo", { project_id, path: makeRepo(join(folder, "shop")) });
  const { task_id } = await call("create_task", { project_id, title: "Try it", description: "!say hello" });
  const repos = [{ repo_id, target_branch: "main" }];
  const { attempt_id } = await call("start_task_attempt", { task_id, executor: "SCRIPTED", repos });
  const attempt = await call("get_attempt", { attempt_id, wait_ms: 20_000 });
  await runner.release(attempt.repos[0]?.path ?? "");
  const shown = async (secret: string) => {
    const answer = await bed.post("/v1/board/get_attempt", { attempt_id }, secret);
    return ((await answer.json()) as typeof attempt).log.length;
  };
  expect(await shown(bed.secrets.read)).toBe(0);
  expect(runner.engines()).toEqual([]);
  expect(await shown(bed.secrets.launch)).toBeGreaterThan(0);
}, 20_000);
