/**
 * Creates the worktrees of an attempt: one per repo, each on the same new branch, with files copied and setup done.
 * Invariant: all or nothing. If one fails, the others are removed again, and what a crash leaves behind has a mark.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import { assertPatterns, type CopyReport, copyFiles } from "./copied-files.ts";
import { discard } from "./discard.ts";
import { attemptFolder, repoFolders } from "./folder-names.ts";
import { assertFiltersKnown } from "./git/filters.ts";
import { git } from "./git/git.ts";
import { adminFolderOf } from "./git/registered.ts";
import { findTip, inspectRepo, isBranchName, type Repo, tipOf } from "./git/repo.ts";
import { ownMaker } from "./maker.ts";
import { claim, type Mark, type Marked, marksIn, openBase, rewrite } from "./mark.ts";
import { repoPlace } from "./owned.ts";
import { runSetup } from "./setup-script.ts";

interface RepoRequest {
  path: string;
  /** The local branch to start from, and to merge into later. */
  targetBranch: string;
  /** The commit to start from; the tip of the target branch when absent. */
  commit?: string;
  /** Untracked files to copy: paths or git patterns, relative to the repository. */
  copy?: string[];
  /** A bash script to run in the worktree; ASYNCAGENTS_REPO names the repository. */
  setup?: string;
}

/** Rejects a repository that may not be used. */
export type MayUse = (repo: Repo) => Promise<void>;

interface AttemptRequest {
  attemptId: string;
  /** The folder for all worktrees; created if missing. */
  base: string;
  /** The attempt's name for people; part of the folder and branch names. */
  name: string;
  repos: RepoRequest[];
  /** The part of the branch name before the slash. */
  branchPrefix?: string;
  /** Milliseconds for each setup script; default ten minutes. */
  setupTimeLimit?: number;
  /**
   * Rejects a repository that the caller may not use. Gets what was inspected here, and is used from here on: what was
   * inspected earlier may have been replaced since.
   */
  mayUse?: MayUse;
  now?: () => Date;
}

export interface Worktree
  extends Pick<Mark, "attemptId" | "repo" | "branch" | "targetBranch" | "baseCommit" | "createdAt"> {
  path: string;
}

export interface MadeWorktree extends Worktree, CopyReport {
  /** The end of the setup script's output. */
  setupOutput: string;
}

interface Plan extends Marked {
  repo: Repo;
  request: RepoRequest;
}

const SETUP_TIME_LIMIT = 600_000;
const CHECKOUT_TIME_LIMIT = 600_000;

export async function makeWorktrees(attempt: AttemptRequest): Promise<MadeWorktree[]> {
  const plans = await planned(attempt);
  const begun: Marked[] = [];
  try {
    const made: MadeWorktree[] = [];
    for (const plan of plans) {
      if (!claim(plan)) throw alreadyThere(attempt.attemptId);
      begun.push(plan);
      made.push(await makeOne(plan, attempt.setupTimeLimit ?? SETUP_TIME_LIMIT));
    }
    // Only now does the attempt exist: a crash before this line leaves nothing that looks complete.
    for (const plan of plans) rewrite({ path: plan.path, mark: { ...plan.mark, stage: "ready" } });
    return made;
  } catch (thrown) {
    throw await rolledBack(begun, thrown);
  }
}

/** Everything that can be rejected is rejected here, before anything is created. */
async function planned(attempt: AttemptRequest): Promise<Plan[]> {
  if (attempt.attemptId === "") throw new AsyncAgentsError("invalid_input", "An attempt needs an id.");
  if (attempt.repos.length === 0) {
    throw new AsyncAgentsError("invalid_input", "An attempt needs at least one repo. Name one with its target branch.");
  }
  for (const { copy } of attempt.repos) assertPatterns(copy ?? []);
  const repos: Repo[] = [];
  for (const { path } of attempt.repos) {
    const repo = await inspectRepo(path);
    await attempt.mayUse?.(repo);
    repos.push(repo);
  }
  assertDifferent(repos);
  const base = openBase(attempt.base);
  if (marksIn(base).some(({ mark }) => mark.attemptId === attempt.attemptId)) throw alreadyThere(attempt.attemptId);
  const folder = attemptFolder(attempt.attemptId, attempt.name);
  const branch = `${attempt.branchPrefix ?? "asyncagents"}/${folder}`;
  const folders = repoFolders(repos.map(({ root }) => root));
  const createdAt = (attempt.now?.() ?? new Date()).toISOString();
  const plans: Plan[] = [];
  for (const [i, repo] of repos.entries()) {
    const request = attempt.repos[i] as RepoRequest;
    const path = join(base, folder, folders[i] ?? "");
    await assertFree(repo, branch, path);
    await assertFiltersKnown(repo.place);
    const mark: Mark = {
      attemptId: attempt.attemptId,
      repo: repo.root,
      gitDir: repo.gitDir,
      branch,
      targetBranch: request.targetBranch,
      createdAt,
      copied: [],
      stage: "making",
      maker: ownMaker(),
      merged: null,
      baseCommit: request.commit ?? (await tipOf(repo.place, request.targetBranch)),
    };
    plans.push({ repo, request, mark, path });
  }
  return plans;
}

async function makeOne(plan: Plan, timeLimit: number): Promise<MadeWorktree> {
  const { path, mark, repo, request } = plan;
  mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  // Creates the branch separately: `worktree add -b` leaves it behind when it loses a race, and cannot be retried.
  await git(repoPlace(mark), ["update-ref", `refs/heads/${mark.branch}`, mark.baseCommit, ""]);
  const args = ["worktree", "add", "--quiet", "--", path, mark.branch];
  mkdirSync(join(mark.gitDir, "worktrees"), { recursive: true });
  await git(repoPlace(mark), args, { timeLimit: CHECKOUT_TIME_LIMIT });
  // Git has written the path of the stand-in for the repository's own folder.
  writeFileSync(join(path, ".git"), `gitdir: ${adminFolderOf(mark.gitDir, path)}\n`);
  const report = await copyFiles(repo, path, request.copy ?? []);
  mark.copied = report.copied;
  rewrite(plan);
  const setupOutput = request.setup?.trim()
    ? await runSetup({ script: request.setup, worktree: path, repo: repo.root, timeLimit })
    : "";
  return { ...worktreeOf(plan), ...report, setupOutput };
}

function worktreeOf({ path, mark }: Marked): Worktree {
  const { attemptId, repo, branch, targetBranch, baseCommit, createdAt } = mark;
  return { path, attemptId, repo, branch, targetBranch, baseCommit, createdAt };
}

async function rolledBack(begun: Marked[], thrown: unknown): Promise<unknown> {
  const left: string[] = [];
  for (const marked of begun.toReversed()) {
    await discard(marked).catch((failure) => {
      left.push(`${marked.path} (${messageOf(failure)})`);
      giveUp(marked);
    });
  }
  if (left.length === 0) return thrown;
  const code = AsyncAgentsError.isInstance(thrown) ? thrown.code : "internal";
  const message = `${messageOf(thrown)} Not everything could be undone: ${left.join("; ")}. Remove the attempt.`;
  return new AsyncAgentsError(code, message, { cause: thrown, details: { left } });
}

/** Lets anyone remove the rest: otherwise it would count as being created for as long as this process runs. */
function giveUp({ path, mark }: Marked): void {
  try {
    rewrite({ path, mark: { ...mark, stage: "removing" } });
  } catch {
    // The disk may be full. Then the rest can be removed by force, or after this process has ended.
  }
}

function assertDifferent(repos: readonly Repo[]): void {
  const twice = repos.find(({ gitDir }, i) => repos.findIndex((other) => other.gitDir === gitDir) !== i);
  if (!twice) return;
  throw new AsyncAgentsError("invalid_input", `${twice.root} is named twice. Name each repo of an attempt once.`);
}

async function assertFree(repo: Repo, branch: string, path: string): Promise<void> {
  const { place } = repo;
  if (!(await isBranchName(place, branch))) {
    const message = `${JSON.stringify(branch)} is not a valid branch name. Choose another prefix.`;
    throw new AsyncAgentsError("invalid_input", message);
  }
  if (existsSync(path)) {
    throw new AsyncAgentsError("worktree_exists", `${path} exists and is not ours. Move it away, then try again.`);
  }
  if (!(await findTip(place, branch))) return;
  const message = `${repo.root} already has a branch ${branch}. Rename or delete it, or use another attempt id.`;
  throw new AsyncAgentsError("worktree_exists", message, { details: { branch } });
}

function alreadyThere(attemptId: string): AsyncAgentsError {
  return new AsyncAgentsError(
    "worktree_exists",
    `The attempt ${JSON.stringify(attemptId)} already has worktrees. Use them, or remove them first.`,
    { details: { attemptId } },
  );
}
