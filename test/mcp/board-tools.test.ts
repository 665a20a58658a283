/**
 * The tools as MCP clients see them, with a real daemon, real git and the scripted executor: what they answer, in
 * which order, and what they reject.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import type { BoardOperationName, OperationInput } from "../../src/protocol/operations.ts";
import { sqliteStore } from "../../src/store/open.ts";
import { sampleAttempt } from "../../src/testing/sample-board.ts";
import { DaemonBed, type Tools } from "./daemon-bed.ts";

const UNKNOWN = "3f2b8c1e-0d4a-4f6b-9a57-5f6d2c7e8b90";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const WAIT = 20_000;

let bed: DaemonBed;
let tools: Tools;
let project_id = "";
let repo_id = "";

beforeAll(async () => {
  bed = await DaemonBed.start();
  tools = await bed.stdio();
  ({ project_id } = await tools.call("add_project", { name: "Shop" }));
  ({ repo_id } = await tools.call("add_repo", { project_id, path: bed.repository }));
});
afterAll(() => bed?.stop());

async function task(title: string, description = "", project = project_id): Promise<string> {
  return (await tools.call("create_task", { project_id: project, title, description })).task_id;
}

async function attempt(task_id: string, more: Partial<OperationInput<"start_task_attempt">> = {}): Promise<string> {
  const repos = [{ repo_id, target_branch: "main" }];
  return (await tools.call("start_task_attempt", { task_id, executor: "SCRIPTED", repos, ...more })).attempt_id;
}

function ended(attempt_id: string) {
  return tools.call("get_attempt", { attempt_id, wait_ms: WAIT });
}

/** An attempt whose agent waits for the file that `release` writes. */
async function waiting(title: string) {
  const task_id = await task(title, "!wait go.txt\n!say first");
  const attempt_id = await attempt(task_id);
  const { repos, session_id } = await tools.call("get_attempt", { attempt_id });
  const release = (file = "go.txt") => writeFile(join(repos[0]?.path ?? "", file), "");
  return { task_id, attempt_id, session_id: session_id ?? "", release, path: repos[0]?.path ?? "" };
}

async function summaryOf(id: string) {
  const { tasks } = await tools.call("list_tasks", { project_id });
  const found = tasks.find((row) => row.id === id);
  if (!found) throw new Error(`list_tasks has no ${id}`);
  const { latest_attempt_id, latest_session_id, latest_session_executor, latest_workspace_branch, ...rest } = found;
  const { has_in_progress_attempt: busy, last_attempt_failed: failed, status } = rest;
  return {
    latest_attempt_id,
    latest_session_id,
    latest_session_executor,
    latest_workspace_branch,
    busy,
    failed,
    status,
  };
}

test("of attempts from one millisecond the one with the smaller id is the latest [MT-F-04, MT-F2-02]", async () => {
  const task_id = await task("Ties");
  const ids = ["c", "a", "b"].map((letter) => UNKNOWN.replace(/^./, letter));
  const older = UNKNOWN.replace(/^./, "0");
  // Nobody can start two at once through a tool, so another process writes them.
  const store = await sqliteStore({ directory: join(bed.root, "data") });
  try {
    const attempt = { workItemId: task_id, state: "failed" as const };
    for (const id of ids) await store.board.addAttempt(sampleAttempt(id, { ...attempt, createdAt: 2000 }), []);
    await store.board.addAttempt(sampleAttempt(older, { ...attempt, createdAt: 1999 }), []);
  } finally {
    await store.close();
  }
  const latest = ids.toSorted()[0] ?? "";
  const listed = await tools.call("list_task_attempts", { task_id });
  expect(listed.attempts.map(({ attempt_id }) => attempt_id)).toEqual([...ids.toSorted(), older]);
  expect(listed.latest_attempt_id).toBe(latest);
  expect((await summaryOf(task_id)).latest_attempt_id).toBe(latest);
});

test("a task's summary is correct before, during and after its attempts [MT-F2-01, MT-03.1]", async () => {
  const id = await task("Summary", "!fail no money");
  const none = { latest_attempt_id: null, latest_session_id: null, latest_session_executor: null };
  const never = { ...none, latest_workspace_branch: null, busy: false, failed: false, status: "todo" as const };
  expect(await summaryOf(id)).toEqual(never);

  const failed = await attempt(id);
  const { session_id, workspace_branch } = await ended(failed);
  const first = { latest_attempt_id: failed, latest_session_id: session_id, latest_workspace_branch: workspace_branch };
  const rest = { latest_session_executor: "SCRIPTED", busy: false, failed: true, status: "inreview" as const };
  expect(await summaryOf(id)).toEqual({ ...first, ...rest });

  await tools.call("update_task", { task_id: id, description: "!wait go.txt" });
  const stopped = await attempt(id);
  const running = await tools.call("get_attempt", { attempt_id: stopped });
  const second = {
    latest_attempt_id: stopped,
    latest_session_id: running.session_id,
    latest_workspace_branch: running.workspace_branch,
  };
  expect(await summaryOf(id)).toEqual({ ...second, ...rest, busy: true, failed: false, status: "inprogress" });
  await tools.call("stop_attempt", { attempt_id: stopped });
  await ended(stopped);
  expect(await summaryOf(id)).toEqual({ ...second, ...rest });

  await tools.call("update_task", { task_id: id, description: "!say fine" });
  const completed = await attempt(id);
  await ended(completed);
  expect(await summaryOf(id)).toMatchObject({ latest_attempt_id: completed, busy: false, failed: false });
});

test("an attempt that is still being set up has no session, and a follow-up says so [MT-04.2, MT-08.6, MT-F2-01]", async () => {
  const gate = join(bed.root, "setup-may-end");
  const setup = `while [ ! -e '${gate}' ]; do sleep 0.05; done`;
  // A script set by a person is approved.
  const repo = await bed.person("add_repo", { project_id, path: bed.repository, name: "slow", setup });
  const id = await task("Slow setup");
  const other = await bed.http();
  const repos = [{ repo_id: repo.repo_id, target_branch: "main" }];
  const started = other.call("start_task_attempt", { task_id: id, executor: "SCRIPTED", repos });
  const listed = async () => {
    for (;;) {
      const answer = await tools.call("list_task_attempts", { task_id: id });
      if (answer.count > 0) return answer;
    }
  };
  const { attempts, latest_attempt_id, latest_session_id } = await listed();
  expect(attempts).toMatchObject([{ latest_session_id: null, latest_session_executor: null }]);
  expect([latest_attempt_id, latest_session_id]).toEqual([attempts[0]?.attempt_id ?? "none", null]);
  expect(await summaryOf(id)).toMatchObject({ latest_session_id: null, latest_session_executor: null, busy: true });
  for (const name of ["workspace_id", "attempt_id"]) {
    const refused = await tools.fails("follow_up", { [name]: latest_attempt_id, action: "send", prompt: "go" });
    expect(refused).toMatchObject({ code: "session_missing", error: expect.stringContaining("no session") });
  }
  await writeFile(gate, "");
  expect((await started).attempt_id).toBe(latest_attempt_id ?? "none");
  expect((await ended(latest_attempt_id ?? "")).state).toBe("completed");
});

test("attempts come newest first with their sessions, and the latest at the top [MT-04.1, MT-F2-02]", async () => {
  const id = await task("Three tries", "!say ok");
  const empty = await tools.call("list_task_attempts", { task_id: id });
  expect(empty).toMatchObject({ attempts: [], count: 0, latest_attempt_id: null, latest_session_id: null });
  const made: string[] = [];
  for (let index = 0; index < 3; index++) made.push(await attempt(id));
  const states = await Promise.all(made.map(ended));
  const { attempts, ...top } = await tools.call("list_task_attempts", { task_id: id });
  expect(attempts).toEqual(
    states.toReversed().map(({ attempt_id, state, workspace_branch, created_at, updated_at, session_id }) => ({
      attempt_id,
      state,
      workspace_branch,
      created_at,
      updated_at,
      latest_session_id: session_id,
      latest_session_executor: "SCRIPTED",
    })),
  );
  const last = states[2];
  expect(top).toMatchObject({ latest_attempt_id: last?.attempt_id, latest_session_id: last?.session_id, count: 3 });
  const page = await tools.call("list_task_attempts", { task_id: id, limit: 2 });
  expect(page.attempts.map(({ attempt_id }) => attempt_id)).toEqual([made[2] ?? "", made[1] ?? ""]);
  const next = await tools.call("list_task_attempts", { task_id: id, limit: 2, cursor: page.next_cursor ?? "" });
  expect(next).toMatchObject({ attempts: [{ attempt_id: made[0] }], next_cursor: null, latest_attempt_id: made[2] });
});

test("an attempt_id from the list continues its latest session unchanged [MT-02.1, MT-05.1]", async () => {
  const id = await task("Continue", "!say one");
  await ended(await attempt(id));
  const { attempts, latest_session_id } = await tools.call("list_task_attempts", { task_id: id });
  const attempt_id = attempts[0]?.attempt_id ?? "";
  const sent = await tools.call("follow_up", { attempt_id, action: "send", prompt: "!say two" });
  expect(sent).toEqual({
    session_id: latest_session_id ?? "",
    action: "send",
    run: 1,
    status: "empty",
    queued_count: 0,
  });
  expect(await ended(attempt_id)).toMatchObject({ state: "completed", final_message: "two" });
});

test("a workspace_id is accepted as the attempt's, to send and to queue [MT-08.1, MT-08.3]", async () => {
  const { attempt_id, session_id, release } = await waiting("By workspace");
  const queued = await tools.call("follow_up", { workspace_id: attempt_id, action: "queue", prompt: "!say queued" });
  expect(queued).toMatchObject({
    session_id,
    action: "queue",
    status: "queued",
    queued_count: 1,
    queued_message: { session_id, message: "!say queued", variant: null },
  });
  await release();
  expect((await untilRun(attempt_id, 1)).final_message).toBe("queued");
  await tools.call("follow_up", { workspace_id: attempt_id, action: "send", prompt: "!say sent" });
  expect((await untilRun(attempt_id, 2)).final_message).toBe("sent");
});

test("a session_id does the same; queued prompts run in order, and can be cancelled [MT-08.2, MT-08.4, MT-08.5]", async () => {
  const { attempt_id, session_id, release } = await waiting("By session");
  const busy = await tools.fails("follow_up", { session_id, action: "send", prompt: "now" });
  expect(busy).toMatchObject({ code: "session_busy", retryable: true, hint: expect.stringContaining("queue") });
  const queue = (prompt: string) => tools.call("follow_up", { session_id, action: "queue", prompt });
  expect(await queue("!say a")).toMatchObject({ status: "queued", queued_count: 1 });
  expect(await queue("!say b")).toMatchObject({ queued_count: 2, queued_message: { message: "!say a" } });
  const cancelled = await tools.call("follow_up", { session_id, action: "cancel" });
  expect(cancelled).toEqual({ session_id, action: "cancel", status: "empty", queued_count: 0 });
  await queue("!say c");
  await queue("!wait more.txt\n!say d");
  await release();
  await release("more.txt");
  expect((await untilRun(attempt_id, 2)).final_message).toBe("d");
  const { log } = await tools.call("get_attempt", { attempt_id });
  const said = log.filter(({ role, text }) => role === "assistant" && text !== "").map(({ text }) => text);
  expect(said).toEqual(["first", "c", "d"]);
  const sent = await tools.call("follow_up", { session_id, action: "send", prompt: "!say e" });
  expect(sent).toMatchObject({ session_id, run: 3 });
  expect((await untilRun(attempt_id, 3)).final_message).toBe("e");
});

/** The state of the attempt when the run of that number has completed; the launch is run 0. */
async function untilRun(attempt_id: string, number: number) {
  // Between two runs of a queue the session is idle for a moment.
  for (let looks = 0; looks < 1_000; looks++) {
    const now = await ended(attempt_id);
    if (now.progress.startsWith(`run ${number},`) && now.state === "completed") return now;
  }
  throw new Error(`Run ${number} of ${attempt_id} did not complete: ${JSON.stringify(await ended(attempt_id))}`);
}

test("send and queue need a prompt; a variant is checked, and is what runs [MT-F2-04]", async () => {
  const { attempt_id, session_id, release } = await waiting("Variants");
  for (const action of ["send", "queue"]) {
    for (const prompt of [undefined, "", "  "]) {
      const refused = await tools.fails("follow_up", { session_id, action, ...(prompt !== undefined && { prompt }) });
      expect(refused).toMatchObject({ code: "missing_required", details: { field: "prompt" } });
    }
  }
  const unknown = await tools.fails("follow_up", { session_id, action: "queue", prompt: "go", variant: "nobody" });
  expect(unknown).toMatchObject({ code: "invalid_argument", hint: expect.stringContaining("list_executors") });
  const [usual, variant] = ["general", "explore"];
  expect(await agentOf(attempt_id)).toBe(usual);
  const queued = await tools.call("follow_up", { session_id, action: "queue", prompt: "!say q", variant });
  expect(queued.queued_message?.variant).toBe(variant);
  await release();
  await untilRun(attempt_id, 1);
  expect(await agentOf(attempt_id)).toBe(variant);
  await tools.call("follow_up", { session_id, action: "send", prompt: "!say s", variant: usual });
  await untilRun(attempt_id, 2);
  expect(await agentOf(attempt_id)).toBe(usual);
});

/** The agent that works in an attempt, as the status API knows it. */
async function agentOf(attempt_id: string): Promise<string> {
  const { url, token } = JSON.parse(await readFile(join(bed.root, "data", "server.json"), "utf8"));
  const client = createClient({ url, token });
  const { handle } = await client.operate("attempt_task", { attempt_id });
  return (await client.task(handle ?? "")).agent;
}

test("each wrong target of a follow-up has its own error, and nothing runs [MT-F-06]", async () => {
  const attempt_id = await attempt(await task("Targets", "!say ok"));
  const { session_id } = await ended(attempt_id);
  const send = { action: "send", prompt: "!say no" };
  const cases: [Record<string, unknown>, string, string][] = [
    [{ ...send }, "missing_required", "attempt_id or session_id"],
    [{ ...send, attempt_id, session_id }, "invalid_argument", "not both"],
    [{ ...send, workspace_id: attempt_id, session_id }, "invalid_argument", "not both"],
    [{ ...send, attempt_id: UNKNOWN }, "not_found", "no attempt"],
    [{ ...send, session_id: UNKNOWN }, "not_found", "no session"],
    [{ ...send, session_id: attempt_id }, "not_found", "no session"],
    [{ ...send, attempt_id: "ses_1" }, "invalid_argument", "UUID"],
    [{ attempt_id, action: "send" }, "missing_required", "prompt"],
    [{ attempt_id, action: "queue" }, "missing_required", "prompt"],
    [{ attempt_id, action: "shout", prompt: "x" }, "invalid_argument", "send, queue, cancel"],
    [{ attempt_id, prompt: "x" }, "missing_required", "action"],
  ];
  const messages = new Set<unknown>();
  for (const [input, code, words] of cases) {
    const refused = await tools.fails("follow_up", input);
    expect({ input, ...refused }).toMatchObject({ input, success: false, code, error: expect.stringContaining(words) });
    messages.add(`${refused.error}`);
  }
  expect(messages.size).toBeGreaterThanOrEqual(8);
  expect(await ended(attempt_id)).toMatchObject({ final_message: "ok", progress: expect.stringContaining("run 0,") });
});

test("status and limit filter the list; invalid ones are rejected with what is allowed [MT-F-05]", async () => {
  const { project_id: other } = await tools.call("add_project", { name: "Filters" });
  const ids: string[] = [];
  for (const title of ["a", "b", "c"]) ids.push(await task(title, "", other));
  await tools.call("update_task", { task_id: ids[0] ?? "", status: "done" });
  const list = (more: object) => tools.call("list_tasks", { project_id: other, ...more });
  const todo = await list({ status: "todo" });
  expect(todo.tasks.map(({ title }) => title)).toEqual(["c", "b"]);
  expect(todo.applied_filters).toEqual({ status: "todo", limit: 50 });
  const one = await list({ limit: 1 });
  expect(one).toMatchObject({ count: 1, applied_filters: { status: null, limit: 1 }, tasks: [{ title: "c" }] });
  expect((await list({ limit: 2, cursor: one.next_cursor })).tasks.map(({ title }) => title)).toEqual(["b", "a"]);
  for (const wrong of [
    { status: "open" },
    { limit: 0 },
    { limit: -1 },
    { limit: 1.5 },
    { limit: 201 },
    { limit: "5" },
  ]) {
    const refused = await tools.fails("list_tasks", { project_id: other, ...wrong });
    const [field = ""] = Object.keys(wrong);
    expect({ wrong, ...refused }).toMatchObject({ wrong, code: "invalid_argument", details: { field } });
    expect(refused.error).toMatch(field === "status" ? /todo, inprogress, inreview, done, cancelled/ : /limit must/);
  }
});

test("get_context exists in an attempt's workspace only, and says where it is [MT-F-02, MT-07.1, MT-F2-03]", async () => {
  expect(await tools.names()).not.toContain("get_context");
  expect(await tools.fails("get_context", {})).toMatchObject({ code: "not_found" });
  const { task_id, attempt_id, release, path } = await waiting("Where am I");
  const inside = join(path, "src");
  await mkdir(inside, { recursive: true });
  const { workspace_branch } = await tools.call("get_attempt", { attempt_id });
  const header = { "x-asyncagents-directory": encodeURIComponent(inside) };
  for (const client of [await bed.stdio({ cwd: inside }), await bed.oldStdio({ cwd: path }), await bed.http(header)]) {
    expect(await client.names()).toContain("get_context");
    expect(await client.call("get_context", {})).toEqual({
      project_id,
      project_name: "Shop",
      task_id,
      task_title: "Where am I",
      task_status: "inprogress",
      attempt_id,
      workspace_branch,
      workspace_repos: [{ repo_id, repo_name: "my shop ü", target_branch: "main" }],
    });
  }
  await release();
  await ended(attempt_id);
});

test("a second call with the same request_id returns the first answer", async () => {
  const input = { project_id, title: "Once", request_id: "once" };
  const first = await tools.call("create_task", input);
  expect(await tools.call("create_task", input)).toEqual(first);
  const other = await tools.fails("create_task", { ...input, title: "Twice" });
  expect(other).toMatchObject({ code: "request_conflict", hint: expect.stringContaining("request_id") });
});

test("ids that are not UUIDs are rejected by every tool that has one, and unknown ones are not found [MT-F-03]", async () => {
  const takes: [BoardOperationName, string, object][] = [
    ...(["list_repos", "list_tasks"] as const).map(
      (name) => [name, "project_id", {}] as [BoardOperationName, string, object],
    ),
    ["create_task", "project_id", { title: "x" }],
    ["list_task_attempts", "task_id", {}],
    ["get_task", "task_id", {}],
    ["update_task", "task_id", { title: "x" }],
    ["delete_task", "task_id", {}],
    ["start_task_attempt", "task_id", { executor: "SCRIPTED", repos: [{ repo_id, target_branch: "main" }] }],
    ["get_attempt", "attempt_id", {}],
    ["stop_attempt", "attempt_id", {}],
    ["get_attempt_diff", "attempt_id", {}],
    ["merge_attempt", "attempt_id", {}],
    ["add_repo", "project_id", { path: bed.repository }],
  ];
  for (const [name, field, more] of takes) {
    const wrong = await tools.fails(name, { ...more, [field]: "12" });
    expect({ name, ...wrong }).toMatchObject({
      name,
      code: "invalid_argument",
      error: expect.stringContaining("UUID"),
    });
    const unknown = await tools.fails(name, { ...more, [field]: UNKNOWN });
    expect({ name, ...unknown }).toMatchObject({ name, code: "not_found", error: expect.stringContaining(UNKNOWN) });
  }
});

test("all answers have UUIDs, RFC3339 times, and no workspace_id [MT-F-03, MT-02.2]", async () => {
  const task_id = await task("Formats", "!write a.txt a");
  const attempt_id = await attempt(task_id);
  await ended(attempt_id);
  await tools.call("follow_up", { attempt_id, action: "send", prompt: "!wait go.txt" });
  await tools.call("follow_up", { attempt_id, action: "queue", prompt: "!say later" });
  await tools.call("list_projects", {});
  for (const name of ["list_repos", "list_tasks"] as const) await tools.call(name, { project_id });
  for (const name of ["list_task_attempts", "get_task"] as const) await tools.call(name, { task_id });
  await tools.call("update_task", { task_id, title: "Formats again" });
  await tools.call("get_attempt_diff", { attempt_id });
  await tools.call("stop_attempt", { attempt_id });
  await tools.call("delete_task", { task_id, force: true });
  const seen = { ids: 0, times: 0 };
  const look = (value: unknown, path: string): void => {
    if (Array.isArray(value)) value.forEach((item, index) => void look(item, `${path}[${index}]`));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      expect(name).not.toBe("workspace_id");
      const isId = name === "id" || name.endsWith("_id");
      if (isId && inner !== null) {
        expect({ path: `${path}.${name}`, inner: String(inner).replace(UUID, "uuid") }).toEqual({
          path: `${path}.${name}`,
          inner: "uuid",
        });
        seen.ids++;
      }
      if ((name === "at" || name.endsWith("_at")) && inner !== null) {
        expect(String(inner)).toMatch(RFC3339);
        seen.times++;
      }
      look(inner, `${path}.${name}`);
    }
  };
  for (const { name, answer } of bed.answers) look(answer, name);
  expect(new Set(bed.answers.map(({ name }) => name)).size).toBeGreaterThanOrEqual(14);
  expect(seen.ids).toBeGreaterThan(25);
  expect(seen.times).toBeGreaterThan(10);
});
