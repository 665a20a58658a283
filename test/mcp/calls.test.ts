/**
 * What the MCP server does with a call: directories, answers, errors, waits. The board behind it is a few lines in
 * each test.
 */
import { expect, test } from "bun:test";
import { AsyncAgentsError, type ErrorCode } from "../../src/model/errors.ts";
import { type Answers, door, errorOf, newClient, oldClient, textOf } from "./door-bed.ts";

const ID = "0198c0de-0000-4000-8000-000000000001";
const AT = "2026-11-15T10:00:00.000Z";
const CLIENTS = { "a client of 2026": newClient, "a client of 2025": oldClient };
/** What neither a URL nor a header can carry unescaped. */
const DIRECTORY = "/shops/my shop/100% café";
const HEADERS = { "x-asyncagents-directory": encodeURIComponent(DIRECTORY) };
const running = { state: "running", progress: "3 tools" };

for (const [who, connect] of Object.entries(CLIENTS)) {
  test(`${who} gets a structured answer, with one line of text per row`, async () => {
    const row = { id: ID, name: "Shop | site", created_at: AT, updated_at: AT };
    const answer = { projects: [row, { ...row, name: "Blog" }], count: 2, next_cursor: null };
    const client = await connect(door({ list_projects: () => answer }).call);
    // A client that has seen the definitions validates each answer against them.
    await client.listTools();
    const result = await client.callTool({ name: "list_projects", arguments: {} });
    expect(result.structuredContent).toEqual(answer);
    expect(textOf(result).split("\n")).toEqual([
      "projects (id | name | created_at | updated_at):",
      `  ${ID} | Shop \\| site | ${AT} | ${AT}`,
      `  ${ID} | Blog | ${AT} | ${AT}`,
      "count: 2",
      "next_cursor: -",
    ]);
  });

  test(`${who} that validates answers gets errors unchanged`, async () => {
    const client = await connect(nothingFound("task"));
    await client.listTools();
    const result = await client.callTool({ name: "get_task", arguments: { task_id: ID } });
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toBeUndefined();
    expect(errorOf(result)).toEqual({
      success: false,
      error: "There is no task.",
      code: "not_found",
      details: { what: "task", id: ID },
      hint: "list_tasks gives the ids of a project's tasks.",
    });
  });

  test(`${who} is told the progress of a long wait`, async () => {
    const { call, calls } = door({
      get_attempt: ({ wait_ms }) => (wait_ms === 2_000 ? { state: "completed" } : running),
    });
    const client = await connect(call);
    const heard: unknown[] = [];
    const input = { attempt_id: ID, wait_ms: 12_000, log_cursor: "c" };
    const result = await client.callTool(
      { name: "get_attempt", arguments: input },
      ...(progressArguments(connect === oldClient, (progress) => heard.push(progress)) as []),
    );
    expect(result.structuredContent).toEqual({ state: "completed" });
    expect(calls.map((one) => one.input)).toEqual([5_000, 5_000, 2_000].map((wait_ms) => ({ ...input, wait_ms })));
    expect(heard).toEqual([
      { progress: 5_000, total: 12_000, message: "running: 3 tools" },
      { progress: 10_000, total: 12_000, message: "running: 3 tools" },
    ]);
  });
}

/** The old client's second argument is the schema of the result. */
function progressArguments(isOld: boolean, onprogress: (progress: unknown) => void): unknown[] {
  return isOld ? [undefined, { onprogress }] : [{ onprogress }];
}

function nothingFound(what: string) {
  const fail = (input: Record<string, unknown>) => {
    throw new AsyncAgentsError("not_found", `There is no ${what}.`, { details: { what, id: input[`${what}_id`] } });
  };
  return door({ get_task: fail }).call;
}

test("a wait without a progress token, a short one, and one that must be rejected are one call each", async () => {
  const { call, calls } = door({ wait_tasks: () => ({ tasks: [], done: false }) });
  const client = await newClient(call);
  const onprogress = () => {};
  await client.callTool({ name: "wait_tasks", arguments: { wait_ms: 30_000 } });
  for (const wait_ms of [5_000, 60_000_000, 7_000.5, -1]) {
    await client.callTool({ name: "wait_tasks", arguments: { wait_ms } }, { onprogress });
  }
  expect(calls.map(({ input }) => input.wait_ms)).toEqual([30_000, 5_000, 60_000_000, 7_000.5, -1]);
});

test("a wait for tasks reports how many have ended, and ends with them", async () => {
  const tasks = [{ status: "completed" }, { status: "running" }, { status: "resumed" }];
  let left = 2;
  const { call, calls } = door({ wait_tasks: () => ({ tasks, done: left-- === 0 }) });
  const heard: unknown[] = [];
  const onprogress = ({ message }: { message?: string }) => heard.push(message);
  await (await newClient(call)).callTool({ name: "wait_tasks", arguments: { wait_ms: 50_000 } }, { onprogress });
  expect(heard).toEqual(["1 of 3 ended", "1 of 3 ended"]);
  expect(calls).toHaveLength(3);
});

test("a client that cancels ends the wait of the operation", async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const wait: Answers[string] = (_input, signal) =>
    new Promise((_, reject) => {
      signal?.addEventListener("abort", () => {
        end("aborted");
        reject(signal.reason);
      });
      begin();
    });
  const client = await newClient(door({ get_attempt: wait }).call);
  const given = new AbortController();
  const called = client.callTool({ name: "get_attempt", arguments: { wait_ms: 50_000 } }, { signal: given.signal });
  await begun;
  given.abort();
  await expect(called).rejects.toThrow();
  expect(await ended).toBe("aborted");
});

test("the server's own directory is used if none is given", async () => {
  const { call, calls } = door({
    launch_task: () => ({ handle: "h", status: "running" }),
    list_executors: () => ({ executors: [] }),
  });
  const here = await newClient(call, { headers: HEADERS });
  await here.callTool({ name: "launch_task", arguments: { prompt: "--go" } });
  await here.callTool({ name: "launch_task", arguments: { prompt: "go", directory: "/else" } });
  await here.callTool({ name: "list_executors", arguments: { directory: null } });
  const nowhere = await newClient(call);
  await nowhere.callTool({ name: "launch_task", arguments: { prompt: "go" } });
  expect(calls.map(({ input }) => input)).toEqual([
    { prompt: "--go", directory: DIRECTORY },
    { prompt: "go", directory: "/else" },
    { directory: DIRECTORY },
    { prompt: "go" },
  ]);
});

test("a context is looked up at each list and each call, with no input from the client", async () => {
  let known = false;
  const context = {
    project_id: ID,
    project_name: "Shop",
    task_id: ID,
    task_title: "Pay",
    task_status: "inprogress",
    attempt_id: ID,
    workspace_branch: "aa/1234-pay",
    workspace_repos: [],
  };
  const seen: unknown[] = [];
  const { call } = door({
    get_context: (input) => {
      seen.push(input);
      if (!known) throw new AsyncAgentsError("not_found", "This folder belongs to no attempt.");
      return context;
    },
  });
  const client = await newClient(call, { headers: HEADERS });
  const listed = async () => (await client.listTools()).tools.find(({ name }) => name === "get_context");
  expect(await listed()).toBeUndefined();
  const refused = await client.callTool({ name: "get_context" });
  expect(errorOf(refused)).toMatchObject({ code: "not_found", error: "This folder belongs to no attempt." });
  known = true;
  expect((await listed())?.inputSchema).toEqual({ type: "object", properties: {}, additionalProperties: false });
  expect((await client.callTool({ name: "get_context" })).structuredContent).toEqual(context);
  expect(new Set(seen.map((input) => JSON.stringify(input)))).toEqual(
    new Set([JSON.stringify({ directory: DIRECTORY })]),
  );
  const given = await client.callTool({ name: "get_context", arguments: { directory: "/etc" } });
  expect(errorOf(given)).toMatchObject({ code: "invalid_argument" });
});

test("without a directory there is no context, and an unreadable header is rejected", async () => {
  const { call } = door({ get_context: () => ({ attempt_id: ID }) });
  const client = await newClient(call);
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("get_context");
  expect(errorOf(await client.callTool({ name: "get_context" })).error).toContain("x-asyncagents-directory");
  await expect(oldClient(call, { headers: { "x-asyncagents-directory": "/100%" } })).rejects.toThrow("percent-encoded");
  await expect(oldClient(call, { query: "?tools=all" })).rejects.toThrow("Use core, or extended for all.");
});

test("a list does not wait for a daemon that does not respond", async () => {
  const { call } = door({ get_context: () => new Promise(() => {}) });
  const client = await newClient(call, { headers: HEADERS });
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("get_context");
});

test("codes and hints of errors name what can be done with the available tools", async () => {
  let code: ErrorCode = "internal";
  const fail = () => {
    throw new AsyncAgentsError(code, "No.");
  };
  const { call } = door({ follow_up: fail });
  const [all, few] = [await newClient(call), await newClient(call, { toolset: "core" })];
  const told = async (next: ErrorCode, client = all) => {
    code = next;
    const { hint, code: said, retryable } = errorOf(await client.callTool({ name: "follow_up" }));
    return [said, retryable, hint];
  };
  expect(await told("missing_required")).toEqual(["missing_required", undefined, undefined]);
  expect(await told("invalid_input")).toEqual(["invalid_argument", undefined, undefined]);
  expect(await told("unknown_agent")).toEqual([
    "invalid_argument",
    undefined,
    expect.stringContaining("list_executors"),
  ]);
  expect(await told("unknown_agent", few)).toEqual(["invalid_argument", undefined, undefined]);
  expect(await told("branch_not_found")).toEqual(["not_found", undefined, expect.stringContaining("target_branch")]);
  expect(await told("session_busy")).toEqual(["session_busy", true, expect.stringContaining('"queue"')]);
  expect(await told("attempt_running")).toEqual(["attempt_running", true, expect.stringContaining("stop_attempt")]);
  expect(await told("attempt_running", few)).toEqual(["attempt_running", true, expect.stringContaining("list_tasks")]);
  expect(await told("daemon_unavailable")).toEqual(["daemon_unavailable", true, undefined]);
});

test("any other thrown error is an internal error with its message", async () => {
  const { call } = door({
    list_projects: () => {
      throw new TypeError("boom");
    },
  });
  const result = await (await newClient(call)).callTool({ name: "list_projects" });
  expect(errorOf(result)).toEqual({ success: false, error: "boom", code: "internal" });
});
