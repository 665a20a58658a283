/** Launches that are answered as MCP tasks, seen by a client of our own over stdio and HTTP, and by the inspector. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DaemonBed } from "../daemon-bed.ts";
import { TASKS, TaskClient } from "./task-client.ts";

let bed: DaemonBed;
let stdio: TaskClient;
beforeAll(async () => {
  bed = await DaemonBed.start();
  stdio = TaskClient.stdio(bed);
});
afterAll(async () => {
  await stdio?.close();
  await bed?.stop();
});

const launch = (prompt: string) => ({ prompt, executor: "SCRIPTED", directory: bed.root });
const open = (gate: string) => writeFile(join(bed.root, gate), "");

test("the server offers the extension, and answers as a task only the requests that do", async () => {
  for (const client of [stdio, TaskClient.http(bed)]) {
    const found = await client.request<{ capabilities: { extensions: object } }>("server/discover", {});
    expect(found.capabilities.extensions).toEqual({ [TASKS]: {} });
    const plain = await client.call<{ structuredContent: object }>("launch_task", launch("!say plain"), false);
    expect(plain).toMatchObject({ resultType: "complete", structuredContent: { status: "running" } });
    const task = await client.call("launch_task", launch("!say as a task"));
    expect(task).toMatchObject({ resultType: "task", status: "working", ttlMs: null });
    const { result } = await client.ended(task.taskId);
    expect(result?.structuredContent).toEqual({
      handle: task.taskId,
      status: "completed",
      result: "as a task",
      error: null,
    });
    expect(result?.content[0]?.text).toContain("as a task");
    // Other tools are answered as before.
    expect(await client.call<object>("list_projects", {})).toMatchObject({ resultType: "complete" });
  }
});

test("a task that has ended stays as it is, however often it is read or cancelled", async () => {
  const { taskId } = await stdio.call("launch_task", launch("!fail it broke"));
  const first = await stdio.ended(taskId);
  expect(first).toMatchObject({ status: "failed", error: { message: expect.stringContaining("it broke") } });
  await stdio.cancel(taskId);
  await stdio.cancel(taskId);
  expect(await stdio.get(taskId)).toEqual(first);
});

test("a task is cancelled once, by as many requests as come", async () => {
  const { taskId } = await stdio.call("launch_task", launch("!wait cancelled-gate\n!say late"));
  expect(await stdio.get(taskId)).toMatchObject({ status: "working" });
  await Promise.all([stdio.cancel(taskId), stdio.cancel(taskId)]);
  expect(await stdio.ended(taskId)).toMatchObject({ status: "cancelled" });
});

test("an attempt is a task with its attempt_id, which later runs do not change", async () => {
  const tools = await bed.http();
  const { project_id } = await tools.call("add_project", { name: "Shop" });
  const { repo_id } = await tools.call("add_repo", { project_id, path: bed.repository });
  const { task_id } = await tools.call("create_task", { project_id, title: "Try", description: "!say tried" });
  const repos = [{ repo_id, target_branch: "main" }];
  const { taskId } = await stdio.call("start_task_attempt", { task_id, executor: "SCRIPTED", repos });
  const first = await stdio.ended(taskId);
  expect(first.result?.structuredContent).toMatchObject({ task_id, attempt_id: taskId, result: "tried" });
  await tools.call("follow_up", { attempt_id: taskId, action: "send", prompt: "!say again" });
  await tools.call("get_attempt", { attempt_id: taskId, wait_ms: 20_000 });
  expect(await stdio.get(taskId)).toEqual(first);
});

test("an unknown task is an error of the protocol", async () => {
  const failed = await stdio.get("ses_none").catch((thrown: unknown) => thrown);
  expect(failed).toMatchObject({ code: -32602, message: expect.stringContaining("ses_none") });
});

test("while the daemon is away, a task is working; a killed daemon comes back, a stopped one does not", async () => {
  const { taskId } = await stdio.call("launch_task", launch("!wait away-gate\n!say late"));
  await bed.stopDaemon();
  expect(await stdio.get(taskId)).toMatchObject({ status: "working" });
  await bed.startDaemon();
  const interrupted = await stdio.ended(taskId);
  expect(interrupted).toMatchObject({ status: "failed", error: { message: expect.stringContaining("interrupted") } });
});

test("the inspector follows a launch to its end", async () => {
  await open("inspected");
  const args = Object.entries(launch("!wait inspected\n!say seen")).flatMap(([name, value]) => [
    "--tool-arg",
    `${name}=${value}`,
  ]);
  for (const http of [false, true]) {
    const { code, stdout, stderr } = await bed.inspect(
      ["--protocol-era", "modern", "--method", "tools/call", "--tool-name", "launch_task", ...args],
      { http },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout).structuredContent).toMatchObject({ status: "completed", result: "seen" });
  }
});
