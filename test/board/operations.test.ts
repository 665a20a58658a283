import { describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BoardOperationName } from "../../src/protocol/operations.ts";
import { refusal, traceOf } from "../worktree/git-bed.ts";
import { attemptOf, boardBed, projectOn, wait } from "./board-bed.ts";

const bed = boardBed();
let at = 1_700_000_000_000;
/** No two things happen in the same millisecond. */
const side = await bed.side(undefined, { now: () => ++at });
const { call } = side;

/** Input that the types would not allow. */
const raw = (name: BoardOperationName, input: unknown) => refusal(call(name, input as never));
const UNKNOWN = "3f2b8c1e-0d4a-4f6b-9a57-5f6d2c7e8b90";

describe("bad input", () => {
  test("each problem has its own error, which names the field and what is allowed [MT-F-05, MT-F-06]", async () => {
    const project_id = UNKNOWN;
    const cases: [BoardOperationName, unknown, string, string][] = [
      ["list_tasks", {}, "missing_required", "project_id is missing"],
      ["list_tasks", { project_id: "abc" }, "invalid_input", "project_id must be a UUID"],
      ["list_tasks", { project_id: "../../etc" }, "invalid_input", "project_id must be a UUID"],
      [
        "list_tasks",
        { project_id, status: "open" },
        "invalid_input",
        "status must be one of todo, inprogress, inreview",
      ],
      ["list_tasks", { project_id, limit: 0 }, "invalid_input", "limit must be at least 1"],
      ["list_tasks", { project_id, limit: 201 }, "invalid_input", "limit must be at most 200"],
      ["list_tasks", { project_id, limit: 1.5 }, "invalid_input", "limit must be a whole number"],
      ["list_tasks", { project_id, limit: "5" }, "invalid_input", "limit must be a number"],
      ["list_tasks", { project_id, cursor: "x" }, "not_found", "There is no project"],
      ["list_projects", { cursor: "x" }, "invalid_input", "cursor must be the next_cursor"],
      ["list_projects", { page: 2 }, "invalid_input", 'There is no field "page". Known fields: limit, cursor.'],
      ["list_projects", null, "invalid_input", "must be an object"],
      ["create_task", { project_id }, "missing_required", "title is missing"],
      ["create_task", { project_id, title: " " }, "missing_required", "title is missing or empty"],
      [
        "create_task",
        { project_id, title: "x".repeat(301) },
        "invalid_input",
        "title must have at most 300 characters",
      ],
      ["create_task", { project_id, title: "x" }, "not_found", "list_projects"],
      ["get_task", { task_id: UNKNOWN }, "not_found", "list_tasks"],
      ["update_task", { task_id: UNKNOWN, status: "done" }, "not_found", "list_tasks"],
      ["delete_task", { task_id: UNKNOWN }, "not_found", "list_tasks"],
      ["list_task_attempts", { task_id: UNKNOWN }, "not_found", "list_tasks"],
      ["list_repos", { project_id }, "not_found", "list_projects"],
      ["get_attempt", { attempt_id: UNKNOWN }, "not_found", "list_task_attempts"],
      ["get_attempt", { attempt_id: UNKNOWN, wait_ms: 60_000 }, "invalid_input", "wait_ms must be at most 50000"],
      ["stop_attempt", { attempt_id: UNKNOWN }, "not_found", "list_task_attempts"],
      ["merge_attempt", { attempt_id: UNKNOWN }, "not_found", "list_task_attempts"],
      ["remove_attempt", { attempt_id: UNKNOWN }, "not_found", "list_task_attempts"],
      ["remove_project", { project_id }, "not_found", "list_projects"],
      ["add_repo", { project_id, path: "/" }, "not_found", "list_projects"],
      ["get_context", {}, "missing_required", "directory is missing"],
      ["get_context", { directory: "here" }, "invalid_input", "directory must be an absolute path"],
      ["answer_question", { answers: ["x"] }, "missing_required", "attempt_id or handle is missing"],
      ["follow_up", { attempt_id: UNKNOWN, prompt: "x" }, "missing_required", "action is missing"],
      [
        "follow_up",
        { attempt_id: UNKNOWN, action: "ask", prompt: "x" },
        "invalid_input",
        "action must be one of send, queue",
      ],
      ["follow_up", { action: "send", prompt: "x" }, "missing_required", "attempt_id or session_id is missing"],
      [
        "follow_up",
        { attempt_id: UNKNOWN, session_id: UNKNOWN, action: "send", prompt: "x" },
        "invalid_input",
        "not both",
      ],
      ["follow_up", { workspace_id: UNKNOWN, session_id: UNKNOWN, action: "cancel" }, "invalid_input", "not both"],
      ["follow_up", { workspace_id: "nope", action: "cancel" }, "invalid_input", "workspace_id must be a UUID"],
      ["follow_up", { attempt_id: UNKNOWN, action: "send" }, "missing_required", "prompt is missing"],
      ["follow_up", { attempt_id: UNKNOWN, action: "queue", prompt: " " }, "missing_required", "prompt is missing"],
      ["follow_up", { attempt_id: UNKNOWN, action: "queue", prompt: "x" }, "not_found", "list_task_attempts"],
      ["follow_up", { session_id: UNKNOWN, action: "cancel" }, "not_found", "There is no session"],
      ["no_such_thing" as BoardOperationName, {}, "no_such_path", "no operation"],
    ];
    for (const [name, input, code, message] of cases) {
      const refused = await raw(name, input);
      expect([name, input, refused.code, refused.message]).toEqual([
        name,
        input,
        code,
        expect.stringContaining(message),
      ]);
    }
  });

  test("an attempt that cannot start changes nothing", async () => {
    const place = await projectOn(side, bed.git);
    const other = await projectOn(side, bed.git);
    const [repo] = place.repos;
    if (!repo) throw new Error("no repo");
    const { task_id } = await call("create_task", { project_id: place.project_id, title: "x" });
    const before = traceOf(place.paths[0] ?? "");
    const start = { task_id, executor: "SCRIPTED", repos: [repo] };
    const cases: [object, string, string][] = [
      [{ executor: undefined }, "missing_required", "executor is missing"],
      [{ executor: "CODEX" }, "invalid_input", "Use one of OPENCODE, CLAUDE_CODE, ACP, SCRIPTED"],
      [{ executor: "claude-code" }, "host_unavailable", "CLAUDE_CODE cannot be used"],
      [{ variant: "nobody" }, "unknown_agent", "Use one of general, explore"],
      [{ task_id: UNKNOWN }, "not_found", "There is no task"],
      [{ repos: [] }, "invalid_input", "repos must have at least 1 entry"],
      [{ repos: [{ repo_id: repo.repo_id }] }, "missing_required", "repos[0].target_branch is missing"],
      [{ repos: [{ ...repo, repo_id: "x" }] }, "invalid_input", "repos[0].repo_id must be a UUID"],
      [{ repos: [{ ...repo, repo_id: UNKNOWN }] }, "not_found", "There is no repo"],
      [{ repos: other.repos }, "invalid_input", "belongs to another project"],
      [{ repos: [repo, repo] }, "invalid_input", "named twice"],
      [{ repos: [{ ...repo, target_branch: "nowhere" }] }, "branch_not_found", "nowhere"],
      [{ repos: [{ ...repo, target_branch: "--help" }] }, "branch_not_found", "--help"],
    ];
    for (const [fields, code, message] of cases) {
      const refused = await raw("start_task_attempt", { ...start, ...fields });
      expect([fields, refused.code, refused.message]).toEqual([fields, code, expect.stringContaining(message)]);
    }
    expect(traceOf(place.paths[0] ?? "")).toEqual(before);
    expect(await call("list_task_attempts", { task_id })).toMatchObject({ count: 0, attempts: [] });
  });

  test("a folder that is not a git repository, and names already in use", async () => {
    const { project_id } = await call("add_project", { name: "names" });
    const folder = bed.git.folder();
    expect(await raw("add_repo", { project_id, path: folder })).toMatchObject({ code: "repo_invalid" });
    expect(await raw("add_repo", { project_id, path: "relative" })).toMatchObject({ code: "repo_invalid" });
    expect(await raw("add_project", { name: "names" })).toMatchObject({ code: "name_taken" });
    const path = bed.git.repo();
    mkdirSync(join(path, "inside"));
    const { repo_id, name, current_branch } = await call("add_repo", { project_id, path: join(path, "inside") });
    expect([name, current_branch]).toEqual(["project", "main"]);
    expect(await raw("add_repo", { project_id, path })).toMatchObject({ code: "name_taken" });
    expect((await call("list_repos", { project_id })).repos).toEqual([{ id: repo_id, name }]);
    const found = {
      project_id,
      repo_id,
      name,
      path,
      copy: [],
      setup: null,
      setup_approval: null,
      current_branch: "main",
    };
    expect(await call("find_repo", { path: join(path, "inside") })).toEqual(found);
    expect(await call("find_repo", { repo_id })).toEqual(found);
    // One answer for everything else, whether it is there or not, and another repository within this one.
    const nothing = await call("find_repo", { path: "/nowhere" });
    expect(nothing.repo_id).toBeNull();
    const broken = bed.git.folder();
    writeFileSync(join(broken, ".git"), "gitdir: /nowhere\n");
    const nested = join(path, "inside", "nested");
    cpSync(bed.git.repo(), nested, { recursive: true });
    for (const other of [bed.git.repo(), folder, broken, join(path, "a.txt", "deep"), "relative", nested]) {
      expect(await call("find_repo", { path: other })).toEqual(nothing);
    }
  });
});

describe("lists", () => {
  test("pages by cursor, newest first, and each row shows the state of its latest attempt [MT-F2-01, MT-F-05]", async () => {
    const place = await projectOn(side, bed.git);
    const { project_id } = place;
    const plain = await call("create_task", { project_id, title: "no attempt" });
    const [good, bad, killed] = [
      await attemptOf(side, place, "!say fine"),
      await attemptOf(side, place, "!fail no"),
      await attemptOf(side, place, "!wait never"),
    ];
    for (const { attempt_id } of [good, bad]) await wait(side, attempt_id);
    const running = await attemptOf(side, place, "!wait never");
    await call("stop_attempt", { attempt_id: killed.attempt_id });
    const { tasks, count, applied_filters, next_cursor } = await call("list_tasks", { project_id });
    expect([count, applied_filters, next_cursor]).toEqual([5, { status: null, limit: 50 }, null]);
    expect(tasks.map(({ id }) => id)).toEqual([running, killed, bad, good, plain].map(({ task_id }) => task_id));
    expect(tasks.map((task) => [task.status, task.has_in_progress_attempt, task.last_attempt_failed])).toEqual([
      ["inprogress", true, false],
      ["inreview", false, true],
      ["inreview", false, true],
      ["inreview", false, false],
      ["todo", false, false],
    ]);
    expect(tasks.map((task) => [task.latest_attempt_id, task.latest_session_executor])).toEqual([
      ...[running, killed, bad, good].map(({ attempt_id }) => [attempt_id, "SCRIPTED"]),
      [null, null],
    ]);
    expect(tasks[4]).toMatchObject({ latest_workspace_branch: null, latest_session_id: null });
    for (const limit of [1, 2, 5]) {
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await call("list_tasks", { project_id, limit, ...(cursor !== undefined && { cursor }) });
        ids.push(...page.tasks.map(({ id }) => id));
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
      expect([limit, ids]).toEqual([limit, tasks.map(({ id }) => id)]);
    }
    const review = await call("list_tasks", { project_id, status: "inreview", limit: 2 });
    expect(review).toMatchObject({ count: 2, applied_filters: { status: "inreview", limit: 2 } });
    expect(review.next_cursor).not.toBeNull();
    await call("stop_attempt", { attempt_id: running.attempt_id });
  });

  test("attempts created in the same millisecond: the smaller id is the later one [MT-F-04, MT-F2-02]", async () => {
    const frozen = await bed.side(undefined, { now: () => 1_700_000_000_000 });
    const place = await projectOn(frozen, bed.git);
    const { task_id } = await frozen.call("create_task", { project_id: place.project_id, title: "x" });
    const start = () => frozen.call("start_task_attempt", { task_id, executor: "scripted", repos: place.repos });
    const ids = (await Promise.all([start(), start(), start()])).map(({ attempt_id }) => attempt_id).sort();
    const listed = await frozen.call("list_task_attempts", { task_id });
    expect(listed.attempts.map(({ attempt_id }) => attempt_id)).toEqual(ids);
    expect(listed).toMatchObject({ task_id, count: 3, latest_attempt_id: ids[0] });
    expect(listed.latest_session_id).toBe(listed.attempts[0]?.latest_session_id ?? "");
    expect((await frozen.call("get_task", { task_id })).task.latest_attempt_id).toBe(ids[0] ?? "");
    const page = await frozen.call("list_task_attempts", { task_id, limit: 2 });
    const rest = await frozen.call("list_task_attempts", { task_id, limit: 2, cursor: page.next_cursor ?? "" });
    expect([...page.attempts, ...rest.attempts].map(({ attempt_id }) => attempt_id)).toEqual(ids);
    expect(rest).toMatchObject({ next_cursor: null, latest_attempt_id: ids[0] });
  });

  test("all executors are listed, including unavailable ones", async () => {
    const { executors } = await call("list_executors", {});
    expect(executors.map(({ executor, available }) => [executor, available])).toEqual([
      ["OPENCODE", false],
      ["CLAUDE_CODE", false],
      ["ACP", false],
      ["SCRIPTED", true],
    ]);
    const scripted = executors.find(({ executor }) => executor === "SCRIPTED");
    expect(scripted).toMatchObject({ problem: null, default_variant: "general", variants: ["general", "explore"] });
  });
});

describe("request_id", () => {
  test("a second call gets the first one's answer, even while that is in progress, and even in a later process", async () => {
    const first = await bed.side();
    const place = await projectOn(first, bed.git);
    const { task_id } = await first.call("create_task", { project_id: place.project_id, title: "x" });
    const input = { task_id, executor: "SCRIPTED", repos: place.repos, request_id: "r1" };
    const answers = await Promise.all(Array.from({ length: 5 }, () => first.call("start_task_attempt", input)));
    expect(new Set(answers.map(({ attempt_id }) => attempt_id)).size).toBe(1);
    expect((await first.call("list_task_attempts", { task_id })).count).toBe(1);
    const other = { ...input, executor: "OPENCODE" };
    expect((await refusal(first.call("start_task_attempt", other))).code).toBe("request_conflict");
    const second = await bed.side(first.folder);
    const again = await second.call("start_task_attempt", { ...input, task_id: task_id.toUpperCase() });
    expect(again.attempt_id).toBe(answers[0]?.attempt_id ?? "");
    // Another operation may use the same id.
    const made = await second.call("create_task", { project_id: place.project_id, title: "y", request_id: "r1" });
    expect(made.task_id).not.toBe(task_id);
  });

  test("a failed call can be repeated; one whose process died is not guessed at; old ones are forgotten", async () => {
    const later = { at: Date.now() };
    const late = await bed.side(undefined, { now: () => later.at });
    const input = { name: "twice", request_id: "r1" };
    await late.call("add_project", { name: "twice" });
    expect((await refusal(late.call("add_project", input))).code).toBe("name_taken");
    const [first] = (await late.call("list_projects", {})).projects;
    await late.call("remove_project", { project_id: first?.id ?? "" });
    const { project_id } = await late.call("add_project", input);
    expect(await late.call("add_project", input)).toEqual({ project_id, repos: [] });
    await late.store.board.dropRequest("add_project", "r1");
    const hash = new Bun.CryptoHasher("sha256").update('{"name":"twice"}').digest("hex");
    expect(await late.store.board.claimRequest("add_project", "r1", hash, later.at)).toBeNull();
    const refused = await refusal(late.call("add_project", input));
    expect(refused).toMatchObject({ code: "request_conflict", message: expect.stringContaining("was interrupted") });
    later.at += 8 * 24 * 3_600_000;
    await (await bed.side(late.folder, { now: () => later.at })).close();
    expect((await refusal(late.call("add_project", input))).code).toBe("name_taken");
  });

  test("a call that failed after it had effects keeps its id and is not executed again", async () => {
    const { attempt_id } = await attemptOf(side, await projectOn(side, bed.git), "!wait go");
    const input = { attempt_id, action: "queue", prompt: "!say once", request_id: "halfway" } as const;
    const { board } = side.store;
    const { queue } = board;
    let reads = 0;
    // The first is from before the prompt is queued.
    board.queue = (id) => (reads++ === 0 ? queue(id) : Promise.reject(new Error("the disk is full")));
    await expect(call("follow_up", input)).rejects.toThrow("the disk is full");
    board.queue = queue;
    const refused = await refusal(call("follow_up", input));
    expect(refused).toMatchObject({ code: "request_conflict", message: expect.stringContaining("failed halfway") });
    expect(await call("list_follow_ups", { attempt_id })).toMatchObject({ queued_count: 1 });
    await call("follow_up", { attempt_id, action: "cancel" });
    await call("stop_attempt", { attempt_id });
  });
});
