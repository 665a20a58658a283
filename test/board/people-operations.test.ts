import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { refusal } from "../worktree/git-bed.ts";
import { attemptOf, boardBed, open, projectOn, wait } from "./board-bed.ts";

const bed = boardBed();
let at = 1_700_000_000_000;
const side = await bed.side(undefined, { now: () => ++at });
const { call } = side;

describe("a project with its repositories", () => {
  test("is added completely or not at all", async () => {
    const path = bed.git.repo("shop");
    const refused = await refusal(call("add_project", { name: "half", repos: [path, bed.git.folder()] }));
    expect(refused.code).toBe("repo_invalid");
    const twice = await refusal(call("add_project", { name: "half", repos: [path, bed.git.repo("shop")] }));
    expect(twice).toMatchObject({ code: "name_taken", message: expect.stringContaining('called "shop"') });
    expect((await call("list_projects", {})).projects.map(({ name }) => name)).not.toContain("half");
    const { project_id, repos } = await call("add_project", { name: "half", repos: [path] });
    expect(repos).toMatchObject([{ name: "shop", current_branch: "main", approval_id: null }]);
    expect((await call("list_repos", { project_id })).repos).toEqual([{ id: repos[0]?.repo_id ?? "", name: "shop" }]);
  });

  test("a repository can be viewed, corrected and removed, even when its folder is gone", async () => {
    const place = await projectOn(side, bed.git, 1, { setup: "echo old", copy: [".env"] });
    const repo_id = place.repos[0]?.repo_id ?? "";
    expect(await call("find_repo", { repo_id })).toMatchObject({ copy: [".env"], setup: "echo old", name: "project" });
    const changed = await call("update_repo", { repo_id, setup: "echo new", name: "store" });
    expect(changed).toEqual({ repo_id, name: "store", copy: [".env"], setup: "echo new" });
    expect(await call("update_repo", { repo_id, setup: " ", copy: [] })).toMatchObject({ copy: [], setup: null });
    await call("add_repo", { project_id: place.project_id, path: bed.git.repo("other") });
    expect(await refusal(call("update_repo", { repo_id, name: "other" }))).toMatchObject({ code: "name_taken" });
    const { attempt_id } = await attemptOf(side, place, "!say done");
    await wait(side, attempt_id);
    expect(await refusal(call("remove_repo", { repo_id }))).toMatchObject({ code: "not_empty" });
    await call("remove_attempt", { attempt_id, force: true });
    rmSync(place.paths[0] ?? "", { recursive: true });
    expect(await call("find_repo", { repo_id })).toMatchObject({ repo_id, current_branch: null });
    expect(await call("remove_repo", { repo_id })).toEqual({ removed_repo_id: repo_id });
    expect(await refusal(call("remove_repo", { repo_id }))).toMatchObject({ code: "not_found" });
    expect(await refusal(call("update_repo", { repo_id, setup: "x" }))).toMatchObject({ code: "not_found" });
  });
});

describe("lists for people", () => {
  test("all attempts, newest first, each with its own state; a task shows the state of its newest attempt beside its branch", async () => {
    const place = await projectOn(side, bed.git);
    const { project_id } = place;
    const first = await attemptOf(side, place, "!wait go");
    const { task_id } = first;
    const second = await call("start_task_attempt", { task_id, executor: "SCRIPTED", repos: place.repos });
    const third = await attemptOf(side, place, "!fail no");
    await wait(side, third.attempt_id);
    await call("stop_attempt", { attempt_id: second.attempt_id });
    const all = async (fields: object) => {
      const { attempts } = await call("list_attempts", { project_id, ...fields });
      return attempts.map(({ attempt_id, state }) => [attempt_id, state]);
    };
    const [row1, row2, row3] = [
      [first.attempt_id, "running"],
      [second.attempt_id, "stopped"],
      [third.attempt_id, "failed"],
    ];
    expect(await all({})).toEqual([row3, row2, row1] as never);
    const page = await call("list_attempts", { limit: 1 });
    expect(page).toMatchObject({
      count: 1,
      attempts: [{ ...third, project_id, task_title: "Try it", queued_count: 0 }],
    });
    expect(await all({ cursor: page.next_cursor })).toEqual([row2, row1] as never);
    expect((await refusal(call("list_attempts", { project_id: task_id }))).code).toBe("not_found");
    // The first attempt is running, a person stopped the newest one: the card must not mix the two.
    const card = {
      latest_attempt_id: second.attempt_id,
      latest_attempt_state: "stopped",
      has_in_progress_attempt: true,
    };
    expect((await call("get_task", { task_id })).task).toMatchObject(card);
    const { attempts } = await call("list_task_attempts", { task_id });
    expect(attempts.map(({ state, workspace_branch }) => [state, workspace_branch])).toEqual([
      ["stopped", (await call("get_task", { task_id })).task.latest_workspace_branch ?? ""],
      ["running", attempts[1]?.workspace_branch ?? ""],
    ]);
    open(await call("get_attempt", { attempt_id: first.attempt_id }), "go");
    await wait(side, first.attempt_id);
  });

  test("queued prompts with their text, and why they wait", async () => {
    const place = await projectOn(side, bed.git);
    const { attempt_id } = await attemptOf(side, place, "!wait go\n!fail broken");
    const empty = await call("list_follow_ups", { attempt_id });
    expect(empty).toMatchObject({ follow_ups: [], queued_count: 0, queue_held: null });
    for (const prompt of ["!say one", "!say two"]) await call("follow_up", { attempt_id, action: "queue", prompt });
    const queued = await call("list_follow_ups", { attempt_id });
    expect(queued.follow_ups.map(({ message }) => message)).toEqual(["!say one", "!say two"]);
    expect(queued).toMatchObject({
      queued_count: 2,
      queue_held: null,
      follow_ups: [{ variant: null, error: null }, {}],
    });
    expect((await call("list_follow_ups", { attempt_id, limit: 1 })).follow_ups).toHaveLength(1);
    open(await call("get_attempt", { attempt_id }), "go");
    expect(await wait(side, attempt_id)).toMatchObject({
      state: "failed",
      queued_count: 2,
      queue_held: expect.stringMatching(/newest run failed.*Send or queue another follow-up to continue, or cancel/),
    });
    await call("follow_up", { attempt_id, action: "cancel" });
    expect((await call("get_attempt", { attempt_id })).queue_held).toBeNull();
  });
});
