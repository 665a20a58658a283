import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { commit, sh, tenLines, write } from "../worktree/git-bed.ts";
import { attemptOf, boardBed, type Place, wait } from "./board-bed.ts";
import {
  CONFIG,
  FILTERS,
  hasFired,
  INCLUDED,
  NESTED,
  PLANTED,
  PROMISES,
  plant,
  type Stage,
  type Vector,
} from "./git-vectors.ts";

const bed = boardBed();
const side = await bed.side();
const { call } = side;

function repoFor(vectors: readonly Vector[]): string {
  const repo = bed.git.repo();
  write(repo, "a.cmd", "a\n");
  write(repo, "a.conv", "a\n");
  for (const { submodule } of vectors) {
    if (submodule) sh(repo, "-c", "protocol.file.allow=always", "submodule", "add", bed.git.repo(), submodule);
  }
  commit(repo, "more");
  return repo;
}

/** Changes by an agent, and by a person in the meantime, so that everything has to be compared and merged. */
function work({ repo, worktree }: Stage, vectors: readonly Vector[]): void {
  if (vectors.some(({ submodule }) => submodule))
    sh(worktree, "-c", "protocol.file.allow=always", "submodule", "update", "--init");
  for (const name of ["a.cmd", "a.conv"]) write(worktree, name, "b\n");
  write(worktree, "a.txt", tenLines({ 2: "theirs" }));
  write(repo, "a.txt", tenLines({ 9: "ours" }));
  commit(repo, "ours");
}

/** A stage built with plain git only. */
function plainStage(vectors: readonly Vector[]): Stage {
  const [repo, folder] = [repoFor(vectors), bed.git.folder()];
  const worktree = join(bed.git.folder(), "tree");
  sh(repo, "worktree", "add", "--quiet", "-b", "plain", worktree);
  const stage = { repo, worktree, folder };
  work(stage, vectors);
  return stage;
}

/** Every git operation of the board, and its result. */
async function everything(place: Place, stage: Stage, attempt_id: string): Promise<Record<string, string>> {
  const said: Record<string, string> = {};
  const operations: [string, () => Promise<unknown>][] = [
    ["start", () => attemptOf(side, place, "!say nothing")],
    ["find", () => call("find_repo", { path: stage.repo })],
    ["find inside", () => call("find_repo", { path: join(stage.worktree, "bare") })],
    ["view", () => call("get_attempt", { attempt_id })],
    ["diff", () => call("get_attempt_diff", { attempt_id })],
    ["remove", () => call("remove_attempt", { attempt_id })],
    ["merge", () => call("merge_attempt", { attempt_id, keep: true })],
    ["squash", () => call("merge_attempt", { attempt_id, squash: true })],
    ["force", () => call("remove_attempt", { attempt_id, force: true })],
  ];
  for (const [name, run] of operations) {
    said[name] = await run().then(
      () => "done",
      (thrown: { code?: string }) => thrown.code ?? String(thrown),
    );
  }
  return said;
}

async function boardStage(vectors: readonly Vector[]) {
  const { project_id } = await call("add_project", { name: crypto.randomUUID() });
  const repo = repoFor(vectors);
  const { repo_id } = await call("add_repo", { project_id, path: repo });
  const place = { project_id, repos: [{ repo_id, target_branch: "main" }], paths: [repo] };
  const { attempt_id } = await attemptOf(side, place, "!say done");
  const { repos } = await wait(side, attempt_id);
  const stage = { repo, worktree: repos[0]?.path ?? "", folder: bed.git.folder() };
  work(stage, vectors);
  return { place, stage, attempt_id };
}

const FINE = { start: "done", find: "done", view: "done", diff: "done", remove: "worktree_dirty" };
const MERGED = { ...FINE, merge: "done", squash: "done", force: "done" };
const refused = (code: string) => ({ merge: code, squash: code, force: "done" });

/** Each with how the board handles it: what works without the program is done, the rest is rejected. */
const GROUPS = [
  { group: "config", vectors: CONFIG, outcome: MERGED },
  { group: "further config", vectors: INCLUDED, outcome: MERGED },
  { group: "filters", vectors: FILTERS, outcome: { ...FINE, ...refused("repo_invalid"), start: "repo_invalid" } },
  { group: "promisors", vectors: PROMISES, outcome: { ...FINE, ...refused("git_failed"), start: "git_failed" } },
  { group: "submodules", vectors: NESTED, outcome: { ...FINE, ...refused("worktree_dirty") } },
  { group: "planted repositories", vectors: PLANTED, outcome: MERGED },
];

describe("programs that files can make git run", () => {
  for (const { group, vectors, outcome } of GROUPS) {
    test(`run with plain git: ${group}`, () => {
      for (const vector of vectors) {
        const stage = plainStage([vector]);
        plant(stage, vector);
        try {
          vector.fire(stage);
        } catch {
          // Many of them break the command that ran them.
        }
        expect([vector.name, hasFired(stage, vector)]).toEqual([vector.name, true]);
      }
    }, 60_000);

    test(`do not run with the board: ${group}`, async () => {
      const { place, stage, attempt_id } = await boardStage(vectors);
      for (const vector of vectors) plant(stage, vector);
      const said = await everything(place, stage, attempt_id);
      expect(vectors.filter((vector) => hasFired(stage, vector)).map(({ name }) => name)).toEqual([]);
      // Nothing is known about what is not on the board.
      expect(said).toEqual({ ...outcome, "find inside": "done" });
    }, 60_000);
  }
});
