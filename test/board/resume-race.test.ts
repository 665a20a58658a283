/** Merging and removing an attempt while somebody resumes its task past the board, as `asyncagents resume` does. */
import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PERSON } from "../../src/engine/launch.ts";
import type { Task } from "../../src/model/task.ts";
import { codeOf } from "../engine/engine-bed.ts";
import { refusal, sh } from "../worktree/git-bed.ts";
import { attemptOf, boardBed, open, projectOn, wait } from "./board-bed.ts";
import type { Side } from "./board-side.ts";

const bed = boardBed();

/** An attempt whose task has ended, and what begins while its folder is closed. */
async function ended(prompt: string) {
  const side = await bed.side();
  const place = await projectOn(side, bed.git);
  const { attempt_id } = await attemptOf(side, place, prompt);
  const attempt = await wait(side, attempt_id);
  const path = attempt.repos[0]?.path ?? "";
  const { handle } = await side.call("attempt_task", { attempt_id });
  const task = async () => (await side.store.task(handle ?? "")) as Task;
  const resume = async () => {
    const before = await task();
    const engine = await side.runner.open(before.host, before.directory);
    return engine.resumeTask(before, { prompt: "!wait go" });
  };
  return { side, attempt_id, attempt, path, task, resume, repo: place.paths[0] ?? "" };
}

/** Calls that when a folder has been closed, and gives it time to do what it can. */
function whenClosed({ runner }: Side, begin: () => void): void {
  const removing: typeof runner.removing = runner.removing.bind(runner);
  runner.removing = (directory, options, work) =>
    removing(directory, options, async (vacate) => {
      begin();
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      return work(vacate);
    });
}

for (const operation of ["merge_attempt", "remove_attempt"] as const) {
  test(`${operation}: a resume meanwhile waits, and is told that the folder is gone`, async () => {
    const { side, attempt_id, path, task, resume } = await ended("!say done");
    const resumed: Promise<unknown>[] = [];
    whenClosed(side, () => resumed.push(codeOf(resume())));
    await side.call(operation, { attempt_id });
    expect(existsSync(path)).toBe(false);
    expect(await Promise.all(resumed)).toEqual(["worktree_not_found"]);
    expect(await task()).toMatchObject({ status: "completed", run: { number: 0 } });
  });

  test(`${operation}: a fork that works there is not interrupted, and its folder stays`, async () => {
    const { side, attempt_id, path, task } = await ended("!say done");
    const engine = await side.runner.open("scripted", path);
    const before = await task();
    const request = {
      description: "Another",
      prompt: "!wait go",
      agent: engine.defaultAgent,
      batch: null,
      fork: false,
    };
    const agent = await engine.checkLaunch(PERSON, request);
    const other = await engine.launch(PERSON, request, agent);
    const refused = await refusal(side.call(operation, { attempt_id }));
    expect([refused.code, refused.message]).toEqual([
      "worktree_busy",
      expect.stringContaining(`Task ${other.id} works`),
    ]);
    expect(existsSync(path)).toBe(true);
    expect(await side.store.task(other.id)).toMatchObject({ status: "running" });
    expect(await task()).toEqual(before);
  });
}

test("merge_attempt: a resume meanwhile goes on if the merge was refused", async () => {
  const { side, attempt_id, attempt, path, task, resume, repo } = await ended("!write a.txt mine\n!say done");
  writeFileSync(join(repo, "a.txt"), "theirs\n");
  sh(repo, "commit", "-q", "-am", "theirs");
  const resumed: Promise<Task>[] = [];
  whenClosed(side, () => resumed.push(resume()));
  expect((await refusal(side.call("merge_attempt", { attempt_id }))).code).toBe("merge_conflict");
  await Promise.all(resumed);
  expect(await task()).toMatchObject({ status: "resumed", run: { number: 1 } });
  expect(existsSync(path)).toBe(true);
  open(attempt, "go");
  await wait(side, attempt_id);
});
