/**
 * Inspects a repository: where it is and which branches it has. Invariant: the result is usable as it is; a folder in
 * which no attempt can start is an error that says why. Read-only.
 */
import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { folderProblem } from "../../model/folder-problem.ts";
import { contentFolders } from "./content-folders.ts";
import { askGit, type GitLocation, git, gitFailure, tryGit } from "./git.ts";
import { contentOf } from "./plain-file.ts";

export interface Repo {
  /** The top folder of the checkout; for a bare repository, the repository itself. */
  root: string;
  /** The git folder that all worktrees of the repository share. */
  gitDir: string;
  /** Where git runs for `root`. */
  place: GitLocation;
  bare: boolean;
  /** The branch that is checked out in `root`, if any. */
  currentBranch: string | null;
  /** The most likely starting point for a new attempt. */
  defaultBranch: string;
  /** Local branches, by name. */
  branches: string[];
}

/** Inspects the repository that contains `path`. */
export async function inspectRepo(path: string): Promise<Repo> {
  assertFolder(path);
  const { root, gitDir, bare, place } = await whereabouts(path);
  const branches = lines(await git(place, ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"]));
  if (branches.length === 0) {
    throw new AsyncAgentsError(
      "repo_invalid",
      `${path} has no branch with a commit yet. Create a first commit there, then try again.`,
    );
  }
  const current = await tryGit(place, ["symbolic-ref", "--quiet", "--short", "HEAD"]);
  const currentBranch = (current.code === 0 && current.stdout.toString("utf8").trim()) || null;
  return {
    root,
    gitDir,
    place,
    bare,
    currentBranch,
    branches,
    defaultBranch: await defaultOf(place, branches, currentBranch),
  };
}

/**
 * The real folders that a repository is in: its checkout, git's folder unless that names this checkout as its own, and
 * what git's folder refers to. Whoever can write a `.git` file or a link can refer to any repository, and whoever can
 * write git's folder can let it name any checkout.
 */
export async function foldersOf({ root, gitDir, place }: Repo): Promise<string[]> {
  const checkout = realpathSync(root);
  const [own, common] = [realpathSync(place.gitDir), realpathSync(gitDir)];
  const elsewhere = contentFolders(common).filter((folder) => !isWithin(folder, common));
  const isNamed = !isWithin(common, checkout) && (await checkoutNamedBy(own, common)) === checkout;
  return [checkout, ...(isNamed ? [] : [common]), ...elsewhere];
}

/** The checkout of a linked worktree or of a submodule, according to git's folder for it. */
async function checkoutNamedBy(own: string, common: string): Promise<string | null> {
  if (dirname(own) === join(common, "worktrees")) {
    const named = contentOf(join(own, "gitdir"))?.trim();
    return named ? dirname(resolve(own, named)) : null;
  }
  const args = ["config", "--file", join(common, "config"), "--no-includes", "core.worktree"];
  const answer = own === common ? await askGit("/", args) : null;
  return answer?.code === 0 ? resolve(common, answer.stdout.toString("utf8").replace(/\n$/, "")) : null;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** The commit at the tip of a local branch. */
export async function tipOf(place: GitLocation, branch: string): Promise<string> {
  const tip = await findTip(place, branch);
  if (tip) return tip;
  throw new AsyncAgentsError(
    "branch_not_found",
    `There is no local branch ${JSON.stringify(branch)} in ${place.cwd}. Name one that exists; a branch of a remote must be made local first: git branch <name> <remote>/<name>.`,
    { details: { branch } },
  );
}

/** The commit at the tip of a local branch; null if there is no such branch. */
export async function findTip(place: GitLocation, branch: string): Promise<string | null> {
  if (!(await isBranchName(place, branch))) return null;
  const answer = await tryGit(place, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}^{commit}`]);
  return answer.code === 0 ? answer.stdout.toString("utf8").trim() : null;
}

/** True for a name that git accepts as a branch, and that no command can mistake for an option. */
export async function isBranchName(place: GitLocation, name: string): Promise<boolean> {
  // A NUL ends an argument, so git would check only part of the name.
  if (name === "" || name.startsWith("-") || name.includes("\0") || name.length > 240) return false;
  const args = ["check-ref-format", `refs/heads/${name}`];
  const answer = await tryGit(place, args);
  // Git cannot read the person's own config: that says nothing about the name.
  if (answer.code > 1) throw gitFailure(place, args, answer);
  return answer.code === 0;
}

/** True if the first commit is the second or an ancestor of it. */
export async function isAncestor(
  place: GitLocation,
  commit: string,
  descendant: string,
  environment: Record<string, string> = {},
): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", commit, descendant];
  const answer = await tryGit(place, args, { environment });
  if (answer.code > 1) throw gitFailure(place, args, answer);
  return answer.code === 0;
}

/** Rejects a path that cannot be a repository. */
function assertFolder(path: string): void {
  const problem = isAbsolute(path) ? folderProblem(path, statSync) : "is not an absolute path";
  if (problem === null) return;
  const message = `${JSON.stringify(path)} ${problem}. Give the full path of the repository's folder.`;
  throw new AsyncAgentsError("repo_invalid", message, { details: { path } });
}

async function whereabouts(path: string): Promise<Pick<Repo, "root" | "gitDir" | "bare" | "place">> {
  const args = ["--git-common-dir", "--absolute-git-dir", "--is-bare-repository", "--is-inside-work-tree"];
  const answer = await askGit(path, ["rev-parse", "--path-format=absolute", ...args]);
  if (answer.code !== 0) {
    const said = answer.stderr.trim();
    const message = /not a git repository/.test(said)
      ? `${path} is not a git repository. Run git init there and commit, or give another folder.`
      : `git cannot use ${path}: ${said}`;
    throw new AsyncAgentsError("repo_invalid", message, { details: { path } });
  }
  const [gitDir = "", own = "", bare, inside] = lines(answer.stdout.toString("utf8"));
  const place: GitLocation = { cwd: gitDir, gitDir: own, commonDir: gitDir };
  if (bare === "true") return { root: gitDir, gitDir, bare: true, place };
  if (inside !== "true") {
    throw new AsyncAgentsError("repo_invalid", `${path} is git's own folder. Give the folder that holds it.`);
  }
  const root = await rootOf(path, own);
  return { root, gitDir, bare: false, place: { ...place, cwd: root, workTree: root } };
}

/** The top of the checkout. A config can claim any folder, and files would be copied from there: it must point back. */
async function rootOf(path: string, gitDir: string): Promise<string> {
  const ask = async (folder: string, what: string) => {
    const answer = await askGit(folder, ["rev-parse", "--path-format=absolute", what]);
    return answer.code === 0 ? answer.stdout.toString("utf8").replace(/\n$/, "") : null;
  };
  const root = await ask(path, "--show-toplevel");
  if (root !== null && (await ask(root, "--absolute-git-dir")) === gitDir) return root;
  const message = `The config of ${gitDir} says that its checkout is ${root ?? "nowhere"}, which does not belong to it. Correct core.worktree there, or give another folder.`;
  throw new AsyncAgentsError("repo_invalid", message, { details: { path } });
}

async function defaultOf(place: GitLocation, branches: string[], current: string | null): Promise<string> {
  const remote = await tryGit(place, ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
  const named = remote.stdout
    .toString("utf8")
    .trim()
    .replace(/^origin\//, "");
  const candidates = [named, "main", "master", current ?? ""];
  return candidates.find((name) => branches.includes(name)) ?? branches[0] ?? "";
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}
