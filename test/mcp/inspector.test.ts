/** The official inspector's command line: the strict list, and every tool called, over stdio and over HTTP. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { BoardOperationName, OperationInput, OperationOutput } from "../../src/protocol/operations.ts";
import { DaemonBed, type Tools } from "./daemon-bed.ts";
import { errorOf } from "./door-bed.ts";
import { CORE_TOOLS } from "./tool-names.ts";

/** The inspector's exit code if a tool answers with an error. */
const TOOL_FAILED = 5;
const UNKNOWN = "3f2b8c1e-0d4a-4f6b-9a57-5f6d2c7e8b90";

let bed: DaemonBed;
/** For the preparation; the inspector does what is tested. */
let tools: Tools;
beforeAll(async () => {
  bed = await DaemonBed.start();
  tools = await bed.http();
});
afterAll(() => bed?.stop());

interface Place {
  cwd?: string;
  http?: boolean;
}

function invoke(name: string, input: object, place: Place = {}) {
  const args = Object.entries(input).flatMap(([field, value]) => [
    "--tool-arg",
    `${field}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  ]);
  return bed.inspect(["--method", "tools/call", "--tool-name", name, ...args], place);
}

async function use<Name extends BoardOperationName>(
  name: Name,
  input: OperationInput<Name>,
  place?: Place,
): Promise<OperationOutput<Name>> {
  const { code, stdout, stderr } = await invoke(name, input, place);
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout).structuredContent;
}

test("the strict list has no complaints about the tools, over stdio and HTTP [MT-01.1]", async () => {
  const strict = ["--method", "tools/list", "--strict"];
  const [stdio, http] = await Promise.all([bed.inspect(strict), bed.inspect(strict, { http: true })]);
  for (const { code, stdout, stderr } of [stdio, http]) {
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const names = JSON.parse(stdout).tools.map(({ name }: { name: string }) => name);
    expect(names.slice(0, 10)).toEqual(CORE_TOOLS);
    expect(names).toHaveLength(23);
  }
});

test("each of the first eleven tools works from the inspector, over stdio [MT-F-01, MT-07.1]", async () => {
  const { project_id } = await tools.call("add_project", { name: "Shop" });
  const { repo_id } = await tools.call("add_repo", { project_id, path: bed.repository });
  const { task_id: other } = await tools.call("create_task", { project_id, title: "Not needed" });

  const [{ projects }, { repos }, { task_id }, { deleted_task_id }] = await Promise.all([
    use("list_projects", {}),
    use("list_repos", { project_id }),
    use("create_task", { project_id, title: "Pay by card", description: "!write pay.txt yes" }),
    use("delete_task", { task_id: other }),
  ]);
  expect(projects).toMatchObject([{ id: project_id, name: "Shop" }]);
  expect(repos).toMatchObject([{ id: repo_id, name: "my shop ü" }]);
  expect(deleted_task_id).toBe(other);

  const started = { task_id, executor: "scripted", repos: [{ repo_id, target_branch: "main" }] };
  const { attempt_id } = await use("start_task_attempt", started);
  const { repos: worktrees, session_id } = await tools.call("get_attempt", { attempt_id, wait_ms: 20_000 });

  const [{ task }, { tasks }, { attempts }, context] = await Promise.all([
    use("get_task", { task_id }),
    use("list_tasks", { project_id, status: "inreview", limit: 5 }),
    use("list_task_attempts", { task_id }),
    use("get_context", {}, { cwd: worktrees[0]?.path ?? "" }),
  ]);
  expect(task).toMatchObject({ id: task_id, title: "Pay by card", description: "!write pay.txt yes" });
  expect(tasks.map(({ id }) => id)).toEqual([task_id]);
  expect(attempts.map((one) => one.attempt_id)).toEqual([attempt_id]);
  expect(context).toMatchObject({ project_id, task_id, attempt_id, workspace_branch: attempts[0]?.workspace_branch });

  const [{ task: changed }, sent] = await Promise.all([
    use("update_task", { task_id, title: "Pay by card or cash" }),
    use("follow_up", { attempt_id, action: "send", prompt: "!say again" }),
  ]);
  expect(changed.title).toBe("Pay by card or cash");
  expect(sent).toMatchObject({ session_id, action: "send", run: 1, status: "empty" });
});

test("each tool of the second set works from the inspector, over HTTP", async () => {
  const http = { http: true };
  const directory = join(bed.root, "tmp");
  const [{ project_id }, { executors }, { handle }] = await Promise.all([
    use("add_project", { name: "Site" }, http),
    use("list_executors", {}, http),
    use("launch_task", { prompt: "!say 42", executor: "SCRIPTED", directory }, http),
  ]);
  expect(executors.find(({ executor }) => executor === "SCRIPTED")).toMatchObject({ available: true, problem: null });
  const [{ repo_id }, waited] = await Promise.all([
    use("add_repo", { project_id, path: bed.repository }, http),
    use("wait_tasks", { handles: [handle], wait_ms: 20_000 }, http),
  ]);
  expect(waited).toMatchObject({ done: true, tasks: [{ handle, status: "completed", result: "42" }] });

  const { budget } = await use("lower_budget", { handle, budget: "$2 5tasks" }, http);
  expect(budget).toMatch(/^\$0\.\d+ of \$2\.00, 0 of 5 tasks$/);
  const raised = await invoke("lower_budget", { handle, budget: "$3" }, http);
  expect([raised.code, raised.stdout]).toEqual([TOOL_FAILED, expect.stringContaining("only a person can raise it")]);
  expect((await use("lower_budget", { handle, budget: "$1" }, http)).budget).toContain("of $1.00, 0 of 5 tasks");

  const start = async (title: string, description: string) => {
    const { task_id } = await tools.call("create_task", { project_id, title, description });
    const repos = [{ repo_id, target_branch: "main" }];
    return (await tools.call("start_task_attempt", { task_id, executor: "SCRIPTED", repos })).attempt_id;
  };
  const asks = await start("Asks", "!ask Which?\n!write a.txt A");
  const waits = await start("Waits", "!wait x.txt");
  const asked = await use("get_attempt", { attempt_id: asks, wait_ms: 20_000 }, http);
  expect(asked).toMatchObject({ state: "waiting", asked: { kind: "question" } });
  const [{ answered }, stopped] = await Promise.all([
    use("answer_question", { attempt_id: asks, answers: ["This one"] }, http),
    use("stop_attempt", { attempt_id: waits }, http),
  ]);
  expect([answered, stopped.attempt_id]).toEqual([true, waits]);
  expect((await tools.call("get_attempt", { attempt_id: asks, wait_ms: 20_000 })).state).toBe("completed");
  const { repos } = await use("get_attempt_diff", { attempt_id: asks }, http);
  expect(repos[0]?.diff).toContain("+A");
  const merged = await use("merge_attempt", { attempt_id: asks, message: "Add A" }, http);
  expect(merged).toMatchObject({ removed: true, task_status: "done", merged: [{ changed: true }] });
});

test("a tool's rejection is an error in the inspector, with what to do", async () => {
  const [unknown, missing] = await Promise.all([
    invoke("get_task", { task_id: UNKNOWN }, { http: true }),
    invoke("list_repos", {}, { http: true }),
  ]);
  expect([unknown.code, missing.code]).toEqual([TOOL_FAILED, TOOL_FAILED]);
  expect(errorOf(JSON.parse(unknown.stdout))).toMatchObject({
    code: "not_found",
    hint: expect.stringContaining("list_tasks"),
  });
  expect(errorOf(JSON.parse(missing.stdout))).toMatchObject({
    code: "missing_required",
    details: { field: "project_id" },
  });
});
