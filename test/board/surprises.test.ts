import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commit, refusal, sh, write } from "../worktree/git-bed.ts";
import { attemptOf, boardBed, projectOn, wait, whenAttempt } from "./board-bed.ts";

const bed = boardBed();
const side = await bed.side();
const { call } = side;

function hook(folder: string, name: string, mode = 0o755): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), "#!/bin/sh\nexit 1\n", { mode });
}

describe("starting an attempt", () => {
  test("gives no warning for a clean repository, and names changes that the worktree lacks", async () => {
    const place = await projectOn(side, bed.git);
    const [repo = ""] = place.paths;
    expect(await attemptOf(side, place, "!say ok")).not.toHaveProperty("warnings");
    write(repo, "a.txt", "changed");
    write(repo, "new.txt", "new");
    const { warnings } = await attemptOf(side, place, "!say ok");
    expect(warnings).toEqual([
      `${repo} has uncommitted changes (a.txt, new.txt). The attempt starts from the tip of main, without them.`,
    ]);
  });

  test("names submodules, which are empty in the worktree, unless the setup script handles them", async () => {
    const place = await projectOn(side, bed.git);
    const [repo = ""] = place.paths;
    sh(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", bed.git.repo(), "libs/one");
    commit(repo, "with a submodule");
    const { warnings, attempt_id } = await attemptOf(side, place, "!say ok");
    expect(warnings).toEqual([expect.stringContaining("Submodules are empty in the worktree (libs/one).")]);
    const { repos } = await wait(side, attempt_id);
    expect(existsSync(join(repos[0]?.path ?? "", "libs/one/a.txt"))).toBe(false);
    const setup = "git -c protocol.file.allow=always submodule update --init";
    const { repo_id } = await call("add_repo", { project_id: place.project_id, path: repo, name: "filled", setup });
    const filled = { ...place, repos: [{ repo_id, target_branch: "main" }] };
    const second = await attemptOf(side, filled, "!say ok");
    expect(second).not.toHaveProperty("warnings");
    const { repos: after } = await wait(side, second.attempt_id);
    expect(existsSync(join(after[0]?.path ?? "", "libs/one/a.txt"))).toBe(true);
  });
});

describe("a merge", () => {
  test("says which hooks were not run, if a person has any", async () => {
    const place = await projectOn(side, bed.git);
    const [repo = ""] = place.paths;
    const merged = async (file: string) => {
      const { attempt_id } = await attemptOf(side, place, `!write ${file} x`);
      await wait(side, attempt_id);
      return call("merge_attempt", { attempt_id });
    };
    expect(await merged("one.txt")).not.toHaveProperty("warnings");
    for (const name of ["pre-commit", "pre-push"]) hook(join(repo, ".git/hooks"), name);
    hook(join(repo, ".git/hooks"), "commit-msg", 0o644);
    const answer = await merged("two.txt");
    expect(answer).toMatchObject({ removed: true, merged: [{ changed: true }] });
    expect(answer.warnings).toEqual(["Hooks of project were not run (pre-commit): run their checks by hand."]);
    hook(join(repo, ".husky"), "commit-msg");
    commitByHand(repo);
    sh(repo, "config", "core.hooksPath", ".husky");
    expect((await merged("three.txt")).warnings).toEqual([expect.stringContaining("(commit-msg)")]);
  });

  test("says why the worktrees stay", async () => {
    const place = await projectOn(side, bed.git);
    const [repo = ""] = place.paths;
    write(repo, ".gitignore", "deps/\n");
    commit(repo, "ignore");
    const { attempt_id } = await attemptOf(side, place, "!write b.txt x");
    const path = (await wait(side, attempt_id)).repos[0]?.path ?? "";
    sh(path, "init", "--quiet", "deps/dep");
    sh(join(path, "deps/dep"), "commit", "--quiet", "--allow-empty", "-m", "only here");
    const answer = await call("merge_attempt", { attempt_id });
    expect(answer).toMatchObject({ removed: false, task_status: "done" });
    expect(answer.warnings).toEqual([
      expect.stringMatching(/^The worktrees stay: .*deps\/dep is a separate repository/),
    ]);
    expect(existsSync(join(path, "deps/dep"))).toBe(true);
  });

  test("of a submodule commit that exists nowhere else is rejected and changes nothing", async () => {
    const place = await projectOn(side, bed.git);
    const [repo = ""] = place.paths;
    sh(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", bed.git.repo(), "lib");
    const before = commit(repo, "with a submodule");
    const { attempt_id, task_id } = await attemptOf(side, place, "!say ok");
    const path = (await wait(side, attempt_id)).repos[0]?.path ?? "";
    sh(path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init");
    sh(join(path, "lib"), "commit", "--quiet", "--allow-empty", "-m", "only here");
    for (const keep of [true, false]) {
      const refused = await refusal(call("merge_attempt", { attempt_id, keep }));
      expect([refused.code, refused.message]).toEqual(["worktree_unmerged", expect.stringContaining("lib")]);
    }
    expect(sh(repo, "rev-parse", "main")).toBe(before);
    expect((await call("get_task", { task_id })).task.status).toBe("inreview");
    expect((await refusal(call("remove_attempt", { attempt_id }))).code).toBe("worktree_dirty");
    commit(path, "use it");
    expect((await refusal(call("remove_attempt", { attempt_id }))).code).toBe("worktree_unmerged");
  });
});

test("the diff names every file with its counts, even those without room for their text, and says that it is incomplete", async () => {
  const place = await projectOn(side, bed.git);
  const { attempt_id } = await attemptOf(side, place, "!say ok");
  const path = (await wait(side, attempt_id)).repos[0]?.path ?? "";
  for (const [i, name] of ["b.txt", "c.txt", "d.txt"].entries()) write(path, name, "line\n".repeat(300 + i));
  const file = { from: null, deletions: 0, binary: false };
  const [whole] = (await call("get_attempt_diff", { attempt_id })).repos;
  expect(whole).toMatchObject({ files: 3, truncated: false, complete: true, unread: null, files_left_out: 0 });
  const [cut] = (await call("get_attempt_diff", { attempt_id, max_bytes: 3_000 })).repos;
  expect(cut).toMatchObject({ files: 3, insertions: 903, truncated: true, complete: false, files_left_out: 0 });
  expect(cut?.changed_files).toEqual([
    { ...file, path: "b.txt", insertions: 300, shown: "whole" },
    { ...file, path: "c.txt", insertions: 301, shown: "part" },
    { ...file, path: "d.txt", insertions: 302, shown: "none" },
  ]);
  const [few] = (await call("get_attempt_diff", { attempt_id, max_files: 1 })).repos;
  expect([few?.changed_files.length, few?.files_left_out, few?.complete]).toEqual([1, 2, true]);
  sh(path, "init", "--quiet", "inner");
  const [unread] = (await call("get_attempt_diff", { attempt_id })).repos;
  expect(unread).toMatchObject({ complete: false, truncated: false, unread: expect.stringContaining("inner") });
});

describe("a follow-up whose worktree was deleted by hand", () => {
  test("is rejected, whether sent or queued, and nothing runs", async () => {
    const place = await projectOn(side, bed.git);
    const { attempt_id } = await attemptOf(side, place, "!say ok");
    const path = (await wait(side, attempt_id)).repos[0]?.path ?? "";
    rmSync(path, { recursive: true });
    for (const action of ["send", "queue"] as const) {
      const refused = await refusal(call("follow_up", { attempt_id, action, prompt: "!write more.txt x" }));
      expect([refused.code, refused.message]).toEqual(["worktree_not_found", expect.stringContaining(path)]);
    }
    expect(existsSync(path)).toBe(false);
    expect(await call("follow_up", { attempt_id, action: "cancel" })).toMatchObject({ status: "empty" });
  });

  test("stays queued with the reason if it was queued before", async () => {
    const place = await projectOn(side, bed.git);
    const { attempt_id } = await attemptOf(side, place, "!ask Go on?\n!say ok");
    const asking = await whenAttempt(side, attempt_id, ({ state }) => state === "waiting");
    await call("follow_up", { attempt_id, action: "queue", prompt: "!write more.txt x" });
    const path = asking.repos[0]?.path ?? "";
    rmSync(path, { recursive: true });
    await call("answer_question", { attempt_id, answers: ["yes"] });
    const held = await whenAttempt(side, attempt_id, ({ refused }) => refused !== null);
    expect(held).toMatchObject({
      state: "completed",
      queued_count: 1,
      error: expect.stringContaining(`${path} is gone`),
    });
    expect(existsSync(path)).toBe(false);
  });
});

function commitByHand(repo: string): void {
  sh(repo, "add", "--all");
  sh(repo, "commit", "--quiet", "--no-verify", "-m", "husky");
}
