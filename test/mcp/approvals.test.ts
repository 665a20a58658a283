/**
 * What a model may not do on its own over MCP, with a real daemon: run scripts, work anywhere, use the scripted
 * agent, launch without end.
 */
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createProject, createTemporaryRoot } from "../../src/testing/opencode/home.ts";
import { COMMAND, DaemonBed, mcpArguments, TOP } from "./daemon-bed.ts";

const bed = await DaemonBed.start();
/** Outside everything that a person has approved. */
const elsewhere = await createTemporaryRoot();
const model = await bed.stdio();
const overHttp = await bed.http();
afterAll(async () => {
  await bed.stop();
  await rm(elsewhere, { recursive: true, force: true });
});

const requested = async () => (await bed.person("list_approvals", { state: "requested" })).approvals;

test("a setup script set by a model runs only after a person approved its exact text", async () => {
  const trace = join(bed.root, "was-run");
  const { project_id } = await model.call("add_project", { name: "scripts" });
  const setup = `echo ran >> '${trace}'`;
  const { repo_id, approval_id } = await model.call("add_repo", { project_id, path: bed.repository, setup });
  const { task_id } = await model.call("create_task", { project_id, title: "Try", description: "!say ok" });
  const start = { task_id, executor: "SCRIPTED", repos: [{ repo_id, target_branch: "main" }] };
  const refused = await model.fails("start_task_attempt", start);
  expect(refused).toMatchObject({
    code: "approval_needed",
    error: expect.stringMatching(
      /waits for approval.*asyncagents approvals.*asyncagents approve [0-9a-f]{8}.*dashboard/,
    ),
    details: { approval_id, kind: "setup", state: "requested" },
  });
  // Not for a person either, who has not seen the script.
  await expect(bed.person("start_task_attempt", start)).rejects.toMatchObject({ code: "approval_needed" });
  expect(await requested()).toMatchObject([
    { approval_id, kind: "setup", directory: bed.repository, script: setup, asked_by: "a model over MCP: add_repo" },
  ]);
  await bed.person("decide_approval", { approval_id: approval_id ?? "", decision: "deny" });
  expect((await model.fails("start_task_attempt", start)).error).toContain("a person denied it");
  expect(existsSync(trace)).toBe(false);
  await bed.person("decide_approval", { approval_id: approval_id ?? "", decision: "approve" });
  const { attempt_id } = await model.call("start_task_attempt", start);
  expect(await model.call("get_attempt", { attempt_id, wait_ms: 20_000 })).toMatchObject({ state: "completed" });
  expect(readFileSync(trace, "utf8")).toBe("ran\n");
  // A different text is a new request; the same text in another project of the same repository is not.
  const again = await model.call("add_repo", { project_id, path: bed.repository, name: "again", setup });
  expect(again.approval_id).toBeNull();
  const changed = await model.call("add_repo", {
    project_id,
    path: bed.repository,
    name: "more",
    setup: `${setup};id`,
  });
  const repos = [{ repo_id: changed.repo_id, target_branch: "main" }];
  expect((await model.fails("start_task_attempt", { ...start, repos })).code).toBe("approval_needed");
  // A script set by a person is thereby approved.
  await bed.person("update_repo", { repo_id: changed.repo_id, setup: "true" });
  const { attempt_id: second } = await model.call("start_task_attempt", { ...start, repos });
  expect((await model.call("get_attempt", { attempt_id: second, wait_ms: 20_000 })).state).toBe("completed");
  expect(readFileSync(trace, "utf8")).toBe("ran\n");
});

test("a directory outside all projects needs a person's approval, even behind a link, for tasks and for repositories", async () => {
  const folder = join(elsewhere, "folder");
  mkdirSync(folder);
  const link = join(bed.root, "a link");
  symlinkSync(folder, link);
  const launch = (directory: string) => ({ prompt: "!write out.txt x", executor: "SCRIPTED", directory });
  for (const client of [model, overHttp]) {
    for (const directory of [folder, link, `${link}/.`, `${elsewhere}/./folder`]) {
      const refused = await client.fails("launch_task", launch(directory));
      expect([directory, refused]).toMatchObject([
        directory,
        { code: "approval_needed", details: { kind: "directory" } },
      ]);
    }
  }
  const repository = await createProject(join(elsewhere, "repo"));
  const { project_id } = await model.call("add_project", { name: "directories" });
  expect((await model.fails("add_repo", { project_id, path: repository })).code).toBe("approval_needed");
  expect((await model.fails("add_project", { name: "half", repos: [repository] })).code).toBe("approval_needed");
  expect((await bed.person("list_projects", {})).projects.map(({ name }) => name)).not.toContain("half");
  const asked = (await requested()).filter(({ kind }) => kind === "directory");
  expect(asked.map(({ directory }) => directory).sort()).toEqual([folder, repository].sort());
  expect(existsSync(join(folder, "out.txt"))).toBe(false);
  // Opening a host in a folder would load the folder's configuration.
  const variants = async (directory: string) =>
    (await model.call("list_executors", { directory })).executors.find(({ executor }) => executor === "SCRIPTED")
      ?.variants;
  expect(await variants(folder)).toEqual(await variants("/nowhere"));
  for (const { approval_id } of asked) await bed.person("decide_approval", { approval_id, decision: "approve" });
  const { handle } = await model.call("launch_task", launch(link));
  await model.call("wait_tasks", { handles: [handle], wait_ms: 20_000 });
  expect(readFileSync(join(folder, "out.txt"), "utf8")).toBe("x\n");
  await model.call("add_repo", { project_id, path: repository });
});

test("a model does not count as a person on any interface it can name, and neither does a command inside an agent", async () => {
  const { project_id } = await bed.person("add_project", { name: "doors" });
  const { approval_id } = await model.call("add_repo", { project_id, path: bed.repository, setup: "echo doors" });
  await expect(model.call("decide_approval" as never, { approval_id, decision: "approve" } as never)).rejects.toThrow(
    "Unknown tool",
  );
  const { token } = JSON.parse(readFileSync(join(bed.root, "data", "server.json"), "utf8"));
  const decide = async (headers: Record<string, string>) => {
    const answer = await fetch(`${bed.url}/v1/board/decide_approval`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      body: JSON.stringify({ approval_id, decision: "approve" }),
    });
    const { error } = (await answer.json()) as { error?: { code: string } };
    return [answer.status, error?.code];
  };
  expect(await decide({ "x-asyncagents-door": "model", ...TOP })).toEqual([403, "not_allowed"]);
  expect(await decide({ "x-asyncagents-depth": "1" })).toEqual([403, "not_allowed"]);
  const approve = [COMMAND, ...mcpArguments().slice(0, 1), "approve", approval_id ?? ""];
  // Nor where its depth cannot be read.
  for (const depth of ["1", "one"]) {
    const inAgent = { ...bed.environment, ASYNCAGENTS_DEPTH: depth };
    const shell = Bun.spawn(approve, { env: inAgent, stdio: ["ignore", "pipe", "pipe"] });
    expect(await new Response(shell.stderr).text()).toContain("Only people can use");
    expect(await shell.exited).not.toBe(0);
  }
  expect((await requested()).map((each) => each.approval_id)).toContain(approval_id ?? "");
});

test("an agent that we started launches none; a caller that reports no depth over HTTP launches none either", async () => {
  const launch = { prompt: "!say ok", executor: "SCRIPTED", directory: bed.root };
  const deep = await bed.stdio({ environment: { ASYNCAGENTS_DEPTH: "1" } });
  for (const client of [deep, await bed.http({ "x-asyncagents-depth": "1" })]) {
    const refused = await client.fails("launch_task", launch);
    expect(refused).toMatchObject({ code: "depth_exceeded", error: expect.stringContaining("ASYNCAGENTS_MAX_DEPTH") });
    expect((await client.call("list_projects", {})).count).toBeGreaterThan(0);
  }
  // Not through the command line in its shell either, which also answers no permission.
  const run = [COMMAND, ...mcpArguments().slice(0, 1), "run", "--host", "scripted", "!say ok"];
  const shell = Bun.spawn(run, {
    cwd: bed.root,
    env: { ...bed.environment, ASYNCAGENTS_DEPTH: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(await new Response(shell.stderr).text()).toContain("may not start others");
  const { token } = await bed.token();
  const answered = await fetch(`${bed.url}/v1/tasks/any/answer`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "x-asyncagents-depth": "1" },
    body: JSON.stringify({ kind: "permission", decision: "always" }),
  });
  expect(await answered.text()).toContain("Only a person may answer a permission");
  const unknown = await (await bed.http({})).fails("launch_task", launch);
  expect(unknown).toMatchObject({ code: "depth_exceeded", error: expect.stringContaining("x-asyncagents-depth") });
  // As a configuration passes it that names the variable while it is not set.
  expect((await (await bed.http({ "x-asyncagents-depth": "" })).call("launch_task", launch)).status).toBe("running");
});

test("an agent that we started does not merge, so that nothing is merged unreviewed; whoever started it does", async () => {
  const { project_id } = await bed.person("add_project", { name: "merges" });
  const { repo_id } = await bed.person("add_repo", { project_id, path: bed.repository });
  const { task_id } = await model.call("create_task", { project_id, title: "Work", description: "!write own.txt own" });
  const repos = [{ repo_id, target_branch: "main" }];
  const { attempt_id } = await model.call("start_task_attempt", { task_id, executor: "SCRIPTED", repos });
  expect(await model.call("get_attempt", { attempt_id, wait_ms: 20_000 })).toMatchObject({ state: "completed" });
  const deep = await bed.stdio({ environment: { ASYNCAGENTS_DEPTH: "1" } });
  for (const client of [deep, await bed.http({ "x-asyncagents-depth": "1" }), await bed.http({})]) {
    expect(await client.fails("merge_attempt", { attempt_id })).toMatchObject({ code: "depth_exceeded" });
  }
  const merge = [COMMAND, ...mcpArguments().slice(0, 1), "attempt", "merge", attempt_id];
  const shell = Bun.spawn(merge, {
    cwd: bed.root,
    env: { ...bed.environment, ASYNCAGENTS_DEPTH: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(await new Response(shell.stderr).text()).toContain("cannot merge");
  expect(existsSync(join(bed.repository, "own.txt"))).toBe(false);
  await model.call("merge_attempt", { attempt_id });
  expect(existsSync(join(bed.repository, "own.txt"))).toBe(true);
});
