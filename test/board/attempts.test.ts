import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commit, refusal, sh, tenLines, traceOf, write } from "../worktree/git-bed.ts";
import { attemptOf, boardBed, open, projectOn, wait, whenAttempt } from "./board-bed.ts";
import type { Side } from "./board-side.ts";

const bed = boardBed();
const side = await bed.side();
const { call } = side;

describe("an attempt", () => {
  test("from start to merge: worktree, run, status, diff, and nothing left behind", async () => {
    const place = await projectOn(side, bed.git);
    const [repo = ""] = place.paths;
    const { task_id, attempt_id } = await attemptOf(side, place, "!wait go\n!write b.txt hello\n!say All done.");
    const running = await call("get_attempt", { attempt_id });
    expect(running).toMatchObject({
      state: "running",
      executor: "SCRIPTED",
      task_id,
      final_message: null,
      error: null,
    });
    expect((await call("get_task", { task_id })).task).toMatchObject({
      status: "inprogress",
      has_in_progress_attempt: true,
      last_attempt_failed: false,
      latest_attempt_id: attempt_id,
      latest_session_id: running.session_id,
      latest_session_executor: "SCRIPTED",
    });
    expect((await refusal(call("merge_attempt", { attempt_id }))).code).toBe("attempt_running");
    expect((await refusal(call("delete_task", { task_id }))).code).toBe("attempt_running");
    const path = running.repos[0]?.path ?? "";
    expect(sh(path, "branch", "--show-current")).toBe(running.workspace_branch);
    writeFileSync(join(path, "go"), "");
    const ended = await wait(side, attempt_id);
    expect(ended).toMatchObject({ state: "completed", final_message: "All done.", queued_count: 0 });
    expect(ended.repos).toMatchObject([
      { files: 2, insertions: 1, deletions: 0, uncommitted: 2, target_branch: "main" },
    ]);
    expect(ended.log[0]).toMatchObject({
      role: "user",
      text: "Try it\n\n!wait go\n!write b.txt hello\n!say All done.",
    });
    expect(ended.log.flatMap(({ tools }) => tools)).toEqual(["wait", "write"]);
    const later = await call("get_attempt", { attempt_id, log_cursor: ended.log_cursor ?? "" });
    expect([later.log, later.log_cursor]).toEqual([[], ended.log_cursor]);
    expect((await call("get_task", { task_id })).task.status).toBe("inreview");

    const { repos } = await call("get_attempt_diff", { attempt_id });
    expect(repos).toMatchObject([{ files: 2, insertions: 1, truncated: false }]);
    expect(repos[0]?.diff).toContain("+hello");
    expect((await call("get_attempt_diff", { attempt_id, max_bytes: 1_000 })).repos[0]?.diff.length).toBeLessThan(
      1_001,
    );

    const merged = await call("merge_attempt", { attempt_id });
    expect(merged).toMatchObject({
      removed: true,
      task_status: "done",
      merged: [{ target_branch: "main", changed: true }],
    });
    expect(readFileSync(join(repo, "b.txt"), "utf8")).toBe("hello\n");
    expect(sh(repo, "log", "-1", "--format=%s")).toBe("Try it");
    expect(sh(repo, "worktree", "list").split("\n")).toHaveLength(1);
    expect(sh(repo, "branch", "--list").split("\n")).toHaveLength(1);
    expect(existsSync(dirname(path))).toBe(false);
    expect(await call("get_attempt", { attempt_id })).toMatchObject({
      state: "merged",
      repos: [{ path: null, files: 2, insertions: 1, uncommitted: 0 }],
    });
    expect((await call("get_task", { task_id })).task.status).toBe("done");
    expect((await refusal(call("follow_up", { attempt_id, action: "send", prompt: "more" }))).code).toBe(
      "worktree_not_found",
    );
    const after = await call("get_attempt_diff", { attempt_id });
    expect(after.repos[0]?.diff).toBe(repos[0]?.diff ?? "");
    expect(await call("delete_task", { task_id })).toEqual({ deleted_task_id: task_id });
    expect((await refusal(call("get_task", { task_id }))).code).toBe("not_found");
  });

  test("20 at once in one repository: each has its own branch and worktree, and all of them can be merged", async () => {
    const place = await projectOn(side, bed.git);
    const [repo = ""] = place.paths;
    const started = await Promise.all(
      Array.from({ length: 20 }, (_, i) => attemptOf(side, place, `!write file-${i}.txt ${i}\n!say ${i}`)),
    );
    const ended = await Promise.all(started.map(({ attempt_id }) => wait(side, attempt_id)));
    expect(ended.map(({ state, final_message }) => `${state} ${final_message}`)).toEqual(
      Array.from({ length: 20 }, (_, i) => `completed ${i}`),
    );
    expect(new Set(ended.flatMap(({ repos }) => repos.map(({ path }) => path))).size).toBe(20);
    expect(new Set(ended.map(({ workspace_branch }) => workspace_branch)).size).toBe(20);
    const merged = await Promise.all(started.map(({ attempt_id }) => call("merge_attempt", { attempt_id })));
    expect(merged.every(({ removed }) => removed)).toBe(true);
    expect(sh(repo, "ls-files").split("\n")).toHaveLength(21);
    expect(sh(repo, "status", "--porcelain")).toBe("");
    expect(sh(repo, "worktree", "list").split("\n")).toHaveLength(1);
  }, 60_000);

  test("several attempts at one task: the task is in review when the last one has ended; a stopped attempt counts as failed", async () => {
    const place = await projectOn(side, bed.git);
    const first = await attemptOf(side, place, "!wait go");
    const { task_id } = first;
    const second = await call("start_task_attempt", { task_id, executor: "scripted", repos: place.repos });
    const list = async () => (await call("list_tasks", { project_id: place.project_id })).tasks[0];
    expect(await list()).toMatchObject({ latest_attempt_id: second.attempt_id, has_in_progress_attempt: true });
    expect(await call("stop_attempt", { attempt_id: second.attempt_id })).toMatchObject({ state: "stopped" });
    expect(await call("stop_attempt", { attempt_id: second.attempt_id })).toMatchObject({ state: "stopped" });
    expect(await list()).toMatchObject({
      status: "inprogress",
      has_in_progress_attempt: true,
      last_attempt_failed: true,
    });
    open(await call("get_attempt", { attempt_id: first.attempt_id }), "go");
    await wait(side, first.attempt_id);
    expect(await list()).toMatchObject({
      status: "inreview",
      has_in_progress_attempt: false,
      last_attempt_failed: true,
    });
    await call("update_task", { task_id, status: "cancelled" });
    await call("follow_up", { attempt_id: second.attempt_id, action: "send", prompt: "!say again" });
    expect(await list()).toMatchObject({ status: "inprogress" });
    await wait(side, second.attempt_id);
    expect(await list()).toMatchObject({ status: "inreview", last_attempt_failed: false });
    await call("delete_task", { task_id, force: true });
  });

  test("a status set by a person during the run is kept", async () => {
    const place = await projectOn(side, bed.git);
    const { task_id, attempt_id } = await attemptOf(side, place, "!wait go");
    await call("update_task", { task_id, status: "done" });
    open(await call("get_attempt", { attempt_id }), "go");
    await wait(side, attempt_id);
    expect((await call("get_task", { task_id })).task.status).toBe("done");
  });

  test("paths with spaces and unicode, a title and a prompt that start with dashes", async () => {
    const { project_id } = await call("add_project", { name: "Pläne & more 🌍" });
    const path = bed.git.repo("mein Projekt ü 'x'");
    const { repo_id, name } = await call("add_repo", { project_id, path: join(path, "."), setup: "printf x > set-up" });
    expect(name).toBe("mein Projekt ü 'x'");
    const { task_id } = await call("create_task", {
      project_id,
      title: "--help; rm -rf",
      description: "--version\n!say ok",
    });
    const repos = [{ repo_id, target_branch: "main" }];
    const { attempt_id } = await call("start_task_attempt", {
      task_id,
      executor: "scripted",
      variant: "explore",
      repos,
    });
    const ended = await wait(side, attempt_id);
    expect(ended).toMatchObject({ state: "completed", final_message: "ok" });
    expect(ended.log[0]?.text).toBe("--help; rm -rf\n\n--version\n!say ok");
    expect(existsSync(join(ended.repos[0]?.path ?? "", "set-up"))).toBe(true);
    const { handle } = await call("attempt_task", { attempt_id });
    expect((await side.store.task(handle ?? ""))?.agent).toBe("explore");
    await call("merge_attempt", { attempt_id });
    expect(sh(path, "log", "-1", "--format=%s")).toBe("--help; rm -rf");
  });
});

describe("several repositories", () => {
  test("one folder holds their worktrees; the agent works there, and the context is found from each", async () => {
    const place = await projectOn(side, bed.git, 2);
    const { attempt_id, task_id } = await attemptOf(side, place, "!write project-1/x.txt x\n!write project-2/y.txt y");
    const ended = await wait(side, attempt_id);
    expect(ended.repos).toMatchObject([{ files: 1 }, { files: 1 }]);
    const [first = "", second = ""] = ended.repos.map(({ path }) => path ?? "");
    const folder = dirname(first);
    mkdirSync(join(second, "deep/er"), { recursive: true });
    const link = join(bed.git.folder(), "link");
    symlinkSync(second, link);
    for (const directory of [first, second, folder, join(second, "deep/er"), link]) {
      expect(await call("get_context", { directory })).toMatchObject({
        project_id: place.project_id,
        task_id,
        task_title: "Try it",
        task_status: "inreview",
        attempt_id,
        workspace_branch: ended.workspace_branch,
        workspace_repos: place.repos,
      });
    }
    mkdirSync(`${folder}-2`);
    for (const directory of [`${folder}-2`, dirname(folder), "/", join(folder, "nowhere")]) {
      expect([directory, (await refusal(call("get_context", { directory }))).code]).toEqual([directory, "not_found"]);
    }
    const merged = await call("merge_attempt", { attempt_id, squash: true });
    expect(merged.merged.map(({ changed }) => changed)).toEqual([true, true]);
    expect((await refusal(call("get_context", { directory: folder }))).code).toBe("not_found");
  });

  test("after a merge, each one shows what the merge changed: even nothing, and even if its repository is gone", async () => {
    const place = await projectOn(side, bed.git, 2);
    const { attempt_id } = await attemptOf(side, place, "!write project-1/x.txt x");
    await wait(side, attempt_id);
    const merged = await call("merge_attempt", { attempt_id });
    expect(merged.merged.map(({ changed }) => changed)).toEqual([true, false]);
    expect((await call("get_attempt_diff", { attempt_id })).repos).toMatchObject([
      { files: 1, insertions: 1, diff: expect.stringContaining("+x") },
      { files: 0, insertions: 0, diff: "", truncated: false },
    ]);
    rmSync(place.paths[0] ?? "", { recursive: true });
    expect((await call("get_attempt", { attempt_id })).repos).toMatchObject([{ files: 0 }, { files: 0 }]);
    expect((await refusal(call("get_attempt_diff", { attempt_id }))).code).toBe("repo_invalid");
  });

  test("a conflict in one of them: nothing is merged into the other, and nothing is committed", async () => {
    const place = await projectOn(side, bed.git, 2);
    const [one = "", two = ""] = place.paths;
    const { attempt_id } = await attemptOf(side, place, "!write project-1/x.txt x\n!write project-2/a.txt mine");
    const ended = await wait(side, attempt_id);
    write(two, "a.txt", tenLines({ 3: "theirs" }));
    commit(two, "theirs");
    const before = [traceOf(one), traceOf(two)];
    const refused = await refusal(call("merge_attempt", { attempt_id }));
    expect(refused).toMatchObject({ code: "merge_conflict", details: { files: ["a.txt"] } });
    expect([traceOf(one), traceOf(two)]).toEqual(before);
    const needsYou = async () => (await call("list_inbox", {})).entries.filter(({ kind }) => kind === "conflict");
    expect(await needsYou()).toMatchObject([{ asked: refused.message }]);
    expect(await call("get_attempt", { attempt_id })).toMatchObject({
      state: "completed",
      repos: ended.repos.map(({ uncommitted }) => ({ uncommitted })),
    });
    // Also with uncommitted changes in the checkout of the target branch.
    sh(two, "reset", "--hard", "--quiet", "HEAD~1");
    write(two, "a.txt", "dirty");
    expect((await refusal(call("merge_attempt", { attempt_id }))).code).toBe("worktree_busy");
    expect(sh(one, "log", "--format=%s")).toBe("first");
    sh(two, "checkout", "--quiet", "--", "a.txt");
    expect(await call("merge_attempt", { attempt_id })).toMatchObject({ removed: true });
    expect(await needsYou()).toEqual([]);
  });

  test("if one cannot be set up, the others are rolled back and the call says why", async () => {
    const { project_id } = await call("add_project", { name: "half" });
    const [good, bad] = [bed.git.repo("good"), bed.git.repo("bad")];
    const first = await call("add_repo", { project_id, path: good });
    const second = await call("add_repo", { project_id, path: bad, setup: "echo broken >&2; exit 3" });
    const { task_id } = await call("create_task", { project_id, title: "Half" });
    const before = [traceOf(good), traceOf(bad)];
    const repos = [first, second].map(({ repo_id }) => ({ repo_id, target_branch: "main" }));
    const refused = await refusal(call("start_task_attempt", { task_id, executor: "SCRIPTED", repos }));
    expect(refused).toMatchObject({ code: "setup_failed", message: expect.stringContaining("broken") });
    expect([traceOf(good), traceOf(bad)]).toEqual(before);
    expect(await call("list_task_attempts", { task_id })).toMatchObject({ count: 0, latest_attempt_id: null });
    expect((await call("get_task", { task_id })).task.status).toBe("todo");
    expect(readdirSync(side.worktrees).filter((name) => name.includes("half"))).toEqual([]);
  });
});

describe("a rejected launch", () => {
  test("because of its variant creates nothing", async () => {
    const side = await bed.side();
    const place = await projectOn(side, bed.git);
    const before = traceOf(place.paths[0] ?? "");
    const refused = await refusal(attemptOf(side, place, "!say no", { variant: "nobody" }));
    expect(refused).toMatchObject({ code: "unknown_agent", message: expect.stringContaining("general, explore") });
    expect([traceOf(place.paths[0] ?? ""), existsSync(side.worktrees)]).toEqual([before, false]);
  });

  test("rolls back the worktrees", async () => {
    const executors = async () => [{ host: "claude", problem: null, defaultAgent: null, agents: [] }];
    const unsure = await bed.side(undefined, { executors });
    const place = await projectOn(unsure, bed.git);
    const before = traceOf(place.paths[0] ?? "");
    const refused = await refusal(attemptOf(unsure, place, "!say no", { executor: "CLAUDE_CODE" }));
    expect(refused).toMatchObject({ code: "host_unavailable", message: expect.stringContaining("claude") });
    expect(traceOf(place.paths[0] ?? "")).toEqual(before);
    expect(readdirSync(unsure.worktrees)).toEqual([".marks"]);
    const [task] = (await unsure.call("list_tasks", { project_id: place.project_id })).tasks;
    expect(task).toMatchObject({ status: "todo", latest_attempt_id: null });
  });
});

describe("a slow setup", () => {
  const start = async (patient: Side, setup: string) => {
    const place = await projectOn(patient, bed.git, 1, { setup });
    return { place, ...(await attemptOf(patient, place, "!say ok")) };
  };

  test("the call returns while setup continues; the attempt has no session until then [MT-04.2, MT-F2-01]", async () => {
    const gate = join(bed.git.folder(), "gate");
    const patient = await bed.side(undefined, { setupPatience: 50 });
    const { task_id, attempt_id } = await start(patient, `until [ -e "${gate}" ]; do sleep 0.05; done`);
    expect(await patient.call("get_attempt", { attempt_id })).toMatchObject({ state: "starting", session_id: null });
    const listed = await patient.call("list_task_attempts", { task_id });
    expect(listed).toMatchObject({
      count: 1,
      latest_attempt_id: attempt_id,
      latest_session_id: null,
      attempts: [{ attempt_id, latest_session_id: null, latest_session_executor: null }],
    });
    expect((await patient.call("get_task", { task_id })).task).toMatchObject({
      status: "todo",
      has_in_progress_attempt: true,
      last_attempt_failed: false,
      latest_session_id: null,
    });
    const send = patient.call("follow_up", { attempt_id, action: "send", prompt: "x" });
    expect((await refusal(send)).code).toBe("session_missing");
    const ended = wait(patient, attempt_id);
    writeFileSync(gate, "");
    expect(await ended).toMatchObject({ state: "completed", final_message: "ok" });
  });

  test("a later failure leaves the attempt marked as failed with its reason, and nothing else", async () => {
    const gate = join(bed.git.folder(), "gate");
    const patient = await bed.side(undefined, { setupPatience: 50 });
    const { task_id, attempt_id, place } = await start(patient, `until [ -e "${gate}" ]; do sleep 0.05; done; exit 7`);
    const before = sh(place.paths[0] ?? "", "rev-parse", "main");
    // A session of Claude Code that launched it is told, once.
    const session = crypto.randomUUID();
    await patient.call("follow_launch", { handle: attempt_id, client: `client:claude:${session}`, way: "hook" });
    const telling = patient.call("next_ends", { session, event: "launch", wait_ms: 20_000 });
    writeFileSync(gate, "");
    const failed = await whenAttempt(patient, attempt_id, ({ state }) => state === "failed");
    expect(failed).toMatchObject({
      session_id: null,
      error: expect.stringContaining("code 7"),
      repos: [{ path: null }],
    });
    expect((await patient.call("get_task", { task_id })).task).toMatchObject({
      has_in_progress_attempt: false,
      last_attempt_failed: true,
      latest_session_id: null,
    });
    expect(traceOf(place.paths[0] ?? "")[0]).toBe(`${before} commit\trefs/heads/main`);
    expect((await refusal(patient.call("follow_up", { attempt_id, action: "send", prompt: "x" }))).code).toBe(
      "session_missing",
    );
    const { claim, text } = await telling;
    expect(text).toContain(`Attempt ${attempt_id} failed`);
    expect(text).toContain("code 7");
    expect(await patient.call("hear_ends", { claim: claim ?? "" })).toEqual({ told: true });
    expect(await patient.call("next_ends", { session, event: "start" })).toMatchObject({ claim: null, waits: false });
    expect(await patient.call("remove_attempt", { attempt_id })).toEqual({ removed_attempt_id: attempt_id });
  });
});

describe("removal", () => {
  test("unmerged work is rejected, for all attempts of a task or for none; force removes it", async () => {
    const place = await projectOn(side, bed.git);
    const dirty = await attemptOf(side, place, "!write work.txt work");
    const { task_id } = dirty;
    const { repos } = await wait(side, dirty.attempt_id);
    await call("update_task", { task_id, description: "!say nothing done" });
    const clean = await call("start_task_attempt", { task_id, executor: "SCRIPTED", repos: place.repos });
    await wait(side, clean.attempt_id);
    expect((await refusal(call("delete_task", { task_id }))).code).toBe("worktree_dirty");
    expect((await refusal(call("remove_attempt", { attempt_id: dirty.attempt_id }))).code).toBe("worktree_dirty");
    expect((await call("list_task_attempts", { task_id })).count).toBe(2);
    commit(repos[0]?.path ?? "", "work");
    expect((await refusal(call("delete_task", { task_id }))).code).toBe("worktree_unmerged");
    sh(place.paths[0] ?? "", "worktree", "lock", repos[0]?.path ?? "");
    expect((await refusal(call("delete_task", { task_id, force: true }))).code).toBe("worktree_busy");
    sh(place.paths[0] ?? "", "worktree", "unlock", repos[0]?.path ?? "");
    expect((await refusal(call("remove_project", { project_id: place.project_id }))).code).toBe("not_empty");
    await call("delete_task", { task_id, force: true });
    expect(sh(place.paths[0] ?? "", "worktree", "list").split("\n")).toHaveLength(1);
    expect(await call("remove_project", { project_id: place.project_id })).toEqual({
      removed_project_id: place.project_id,
    });
  });

  test("force stops running work and removes queued work", async () => {
    const place = await projectOn(side, bed.git);
    const { task_id, attempt_id } = await attemptOf(side, place, "!wait never");
    const { handle } = await call("attempt_task", { attempt_id });
    await call("follow_up", { attempt_id, action: "queue", prompt: "!say never" });
    expect((await refusal(call("remove_attempt", { attempt_id }))).code).toBe("attempt_running");
    await call("delete_task", { task_id, force: true });
    expect(await side.store.task(handle ?? "")).toMatchObject({ status: "cancelled", run: { number: 0 } });
    expect(sh(place.paths[0] ?? "", "worktree", "list").split("\n")).toHaveLength(1);
  });

  test("a second merge with nothing to do still knows what the first one changed", async () => {
    const place = await projectOn(side, bed.git);
    const { attempt_id } = await attemptOf(side, place, "!write one.txt 1");
    await wait(side, attempt_id);
    await call("merge_attempt", { attempt_id, keep: true });
    expect(await call("merge_attempt", { attempt_id })).toMatchObject({ removed: true, merged: [{ changed: false }] });
    expect((await call("get_attempt", { attempt_id })).repos).toMatchObject([{ path: null, files: 1, insertions: 1 }]);
  });

  test("an attempt merged with its worktree kept can be continued and merged again", async () => {
    const place = await projectOn(side, bed.git);
    const { task_id, attempt_id } = await attemptOf(side, place, "!write one.txt 1");
    await wait(side, attempt_id);
    expect(await call("merge_attempt", { attempt_id, keep: true, message: "first half" })).toMatchObject({
      removed: false,
    });
    expect(await call("get_attempt", { attempt_id })).toMatchObject({ state: "merged" });
    await call("follow_up", { attempt_id, action: "send", prompt: "!write two.txt 2" });
    expect(await wait(side, attempt_id)).toMatchObject({ state: "completed" });
    expect((await call("get_task", { task_id })).task.status).toBe("inreview");
    expect(await call("merge_attempt", { attempt_id })).toMatchObject({ removed: true, merged: [{ changed: true }] });
    expect(sh(place.paths[0] ?? "", "ls-files").split("\n")).toEqual(["a.txt", "one.txt", "two.txt"]);
  });
});
