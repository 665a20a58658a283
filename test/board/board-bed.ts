/** Boards for a test file, and the steps tests share: `const bed = boardBed()` at the top of the file. */
import { afterAll } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BoardContext } from "../../src/board/board-context.ts";
import { stateOf } from "../../src/board/wire.ts";
import type { OperationInput, OperationOutput } from "../../src/protocol/operations.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { type GitBed, gitBed } from "../worktree/git-bed.ts";
import { openSide, type Side } from "./board-side.ts";

export interface BoardBed {
  git: GitBed;
  /** A started board with its own folder, or on a folder that another board used. */
  side(folder?: string, fields?: Partial<BoardContext>): Promise<Side>;
}

export function boardBed(): BoardBed {
  const sides: Side[] = [];
  // Must run before the folders are removed, on the next line.
  afterAll(async () => {
    for (const side of sides) await side.close();
  });
  const git = gitBed();
  return {
    git,
    async side(folder = git.folder(), fields = {}) {
      const side = await openSide(folder, fields);
      sides.push(side);
      await side.board.start();
      return side;
    },
  };
}

export interface Place {
  project_id: string;
  repos: { repo_id: string; target_branch: string }[];
  paths: string[];
}

let projects = 0;

/** A project with this number of repositories. */
export async function projectOn(side: Side, git: GitBed, count = 1, more: object = {}): Promise<Place> {
  const { project_id } = await side.call("add_project", { name: `project ${++projects}` });
  const place: Place = { project_id, repos: [], paths: [] };
  for (let i = 0; i < count; i++) {
    const path = git.repo(count === 1 ? "project" : `project-${i + 1}`);
    const { repo_id } = await side.call("add_repo", { project_id, path, ...more });
    place.repos.push({ repo_id, target_branch: "main" });
    place.paths.push(path);
  }
  return place;
}

/** A task with this description, and an attempt at it. */
export async function attemptOf(
  side: Side,
  { project_id, repos }: Place,
  description: string,
  fields: Partial<OperationInput<"start_task_attempt">> = {},
): Promise<OperationOutput<"start_task_attempt">> {
  const { task_id } = await side.call("create_task", { project_id, title: "Try it", description });
  return side.call("start_task_attempt", { task_id, executor: "SCRIPTED", repos, ...fields });
}

export function wait(side: Side, attempt_id: string): Promise<OperationOutput<"get_attempt">> {
  return side.call("get_attempt", { attempt_id, wait_ms: 20_000 });
}

/** The state of an attempt, without running git. */
export interface Standing {
  state: OperationOutput<"get_attempt">["state"];
  queued: number;
  /** Why the first follow-up in the queue could not start. */
  refused: string | null;
}

/** The attempt as soon as it matches; rechecked on every change in the store. */
export async function whenAttempt(
  side: Side,
  attempt_id: string,
  fits: (standing: Standing) => boolean,
): Promise<OperationOutput<"get_attempt">> {
  const { board } = side.store;
  await eventually(side.store, async () => {
    const attempt = await board.attempt(attempt_id);
    if (attempt === null) throw new Error("the attempt is gone");
    const { latestSession } = attempt;
    const task = latestSession && (await side.store.task(latestSession.taskId));
    const { count, head } = latestSession ? await board.queue(latestSession.id) : { count: 0, head: null };
    return fits({ state: stateOf(attempt, task), queued: count, refused: head?.error ?? null }) ? true : null;
  });
  return side.call("get_attempt", { attempt_id });
}

/** Releases a scripted agent that waits for a file in its worktree. */
export function open(attempt: OperationOutput<"get_attempt">, name: string): void {
  const path = attempt.repos[0]?.path ?? "";
  if (!existsSync(path)) mkdirSync(path, { recursive: true });
  writeFileSync(join(path, name), "");
}

/** The prompts of the attempt's runs, oldest first, each with its outcome. */
export async function runsOf(side: Side, attempt_id: string): Promise<string[]> {
  const { handle } = await side.call("attempt_task", { attempt_id });
  const runs = await side.store.runs(handle ?? "", 100);
  return runs.toReversed().map(({ prompt, outcome }) => `${prompt}: ${outcome}`);
}
