/**
 * What holds for `launch_task` holds for the status API too, with a real daemon that lets agents start agents: no
 * work in a folder that no person approved, and no foreign tasks in an attempt.
 */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Client, createClient } from "../../src/client/client.ts";
import type { CallOrigin } from "../../src/protocol/call-origin.ts";
import { createTemporaryRoot } from "../../src/testing/opencode/home.ts";
import { DaemonBed } from "./daemon-bed.ts";

const bed = await DaemonBed.start({ ASYNCAGENTS_MAX_DEPTH: "2" });
const elsewhere = await createTemporaryRoot();
afterAll(async () => {
  await bed.stop();
  await rm(elsewhere, { recursive: true, force: true });
});

const { token } = await bed.token();
const as = (origin?: CallOrigin): Client => createClient({ url: bed.url, token, ...(origin && { origin }) });
const person = as();
const agents = [as({ door: "person", depth: 1 }), as({ door: "model", depth: 0 })];
const launchIn = (directory: string) => ({ description: "Try", prompt: "!say ok", host: "scripted", directory });

async function ended(id: string): Promise<void> {
  await person.operate("wait_tasks", { handles: [id], wait_ms: 20_000 });
}

test("an agent starts nothing over the status API in a folder that no person approved", async () => {
  const folder = join(elsewhere, "folder");
  mkdirSync(folder);
  const { id } = await person.launch(launchIn(folder));
  await ended(id);
  for (const agent of agents) {
    await expect(agent.launch(launchIn(folder))).rejects.toMatchObject({ code: "not_allowed" });
    await expect(agent.resume(id, "!say more")).rejects.toMatchObject({ code: "approval_needed" });
    await expect(agent.fork(id, { prompt: "!say more" })).rejects.toMatchObject({ code: "approval_needed" });
  }
  expect((await person.tasks()).total).toBe(1);
  await person.operate("allow_directory", { directory: folder });
  for (const agent of agents) {
    await agent.resume(id, "!say more");
    await ended(id);
  }
});

test("a task in a batch with the id of an attempt is rejected, and moves no work item", async () => {
  const { project_id, repos } = await person.operate("add_project", { name: "shop", repos: [bed.repository] });
  const { task_id } = await person.operate("create_task", { project_id, title: "Try", description: "!say ok" });
  const { attempt_id } = await person.operate("start_task_attempt", {
    task_id,
    executor: "SCRIPTED",
    repos: [{ repo_id: repos[0]?.repo_id ?? "", target_branch: "main" }],
  });
  await person.operate("get_attempt", { attempt_id, wait_ms: 20_000 });
  await person.operate("update_task", { task_id, status: "done" });
  await expect(person.launch({ ...launchIn(bed.root), batch: attempt_id })).rejects.toMatchObject({
    code: "invalid_input",
  });
  expect((await person.operate("get_task", { task_id })).task.status).toBe("done");
  expect((await person.group(attempt_id)).tasks).toHaveLength(1);
});
