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

test("an agent removes no attempt, and a task in a batch with its id is rejected and moves no work item", async () => {
  const { project_id, repos } = await person.operate("add_project", { name: "shop", repos: [bed.repository] });
  const { task_id } = await person.operate("create_task", { project_id, title: "Try", description: "!say ok" });
  const { attempt_id } = await person.operate("start_task_attempt", {
    task_id,
    executor: "SCRIPTED",
    repos: [{ repo_id: repos[0]?.repo_id ?? "", target_branch: "main" }],
  });
  await person.operate("get_attempt", { attempt_id, wait_ms: 20_000 });
  for (const agent of agents) {
    const removal = agent.operate("remove_attempt", { attempt_id, force: true });
    await expect(removal).rejects.toMatchObject({ code: "not_allowed" });
    await expect(agent.operate("remove_project", { project_id })).rejects.toMatchObject({ code: "not_allowed" });
  }
  await person.operate("update_task", { task_id, status: "done" });
  await expect(person.launch({ ...launchIn(bed.root), batch: attempt_id })).rejects.toMatchObject({
    code: "invalid_input",
  });
  expect((await person.operate("get_task", { task_id })).task.status).toBe("done");
  expect((await person.group(attempt_id)).tasks).toHaveLength(1);
});

test("an agent's answer does not count as one from the dashboard", async () => {
  for (const [index, agent] of agents.entries()) {
    const { id } = await person.launch({ ...launchIn(bed.root), prompt: "!ask What?" });
    await ended(id);
    await agent.answer(id, { kind: "question", answers: ["this"], via: "dashboard" });
    await ended(id);
    expect((await person.task(id)).phaseDetail).toMatchObject({ kind: "answered", by: ["api", "model"][index] });
  }
});

test("a door that is not known counts as a model's", async () => {
  for (const door of ["Model", "model, model", "agent"]) {
    const headers = { authorization: `Bearer ${token}`, "x-asyncagents-door": door };
    const answer = await fetch(`${bed.url}/v1/board/list_approvals`, { method: "POST", headers, body: "{}" });
    expect(answer.status).toBe(403);
  }
});
