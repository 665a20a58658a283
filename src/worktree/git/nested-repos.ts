/**
 * Repositories inside a worktree: submodules, and any that an agent has cloned or created there. Finds them without
 * git, which would use their config, and tells what would be lost with them. Invariant: in doubt, a commit counts as
 * existing nowhere else. Read-only.
 */
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import type { Mark } from "../mark.ts";
import { checkoutPlace, repoPlace } from "../owned.ts";
import { type GitLocation, git, tryGit } from "./git.ts";
import { uncommittedEntries } from "./index-copy.ts";
import { contentOf } from "./plain-file.ts";

interface NestedRepo {
  /** Relative to the worktree; for a submodule without a checkout, git's folder for it. */
  path: string;
  place: GitLocation;
  /** Where the person's own copy of it may be. */
  counterparts: string[];
  /** The commit that the target branch recorded for it when the attempt started. */
  recorded(): Promise<string[]>;
  /** Its commits would be removed with the worktree; false for a checkout whose repository is elsewhere. */
  goes: boolean;
}

interface NestedReposInput {
  path: string;
  mark: Mark;
  /** Git's folder for the worktree; null if it no longer exists. */
  adminFolder: string | null;
}

const NAMED = 5;

/** All of them, at any depth, including ignored folders; with `below`, only those in these folders. */
export async function nestedRepos(around: NestedReposInput, below = [""]): Promise<NestedRepo[]> {
  const { path, mark, adminFolder } = around;
  const modules = adminFolder && join(adminFolder, "modules");
  const isInside = (folder: string) => [path, modules].some((above) => above && folder.startsWith(`${above}/`));
  const shared = (gitDir: string) =>
    modules && gitDir.startsWith(`${modules}/`) ? [join(mark.gitDir, "modules", relative(modules, gitDir))] : [];
  const found: NestedRepo[] = [];
  const tops = below.map((inside) => join(path, inside));
  for (const folder of await foldersWith(tops, (names) => names.includes(".git"))) {
    const gitDir = folder === path ? null : gitDirOf(folder);
    if (gitDir === null) continue;
    const inside = relative(path, folder);
    const own = gitDirOf(join(mark.repo, inside));
    const place = checkoutPlace(folder, gitDir, commonDirOf(gitDir));
    const counterparts = [...shared(gitDir), ...(own === null ? [] : [commonDirOf(own)])];
    const recorded = () => recordedAt(mark, inside);
    found.push({ path: inside, place, counterparts, recorded, goes: isInside(place.commonDir) });
  }
  const bare = modules
    ? await foldersWith([modules], (names) => names.includes("HEAD") && names.includes("objects"))
    : [];
  for (const gitDir of bare.filter((folder) => !found.some(({ place }) => place.gitDir === folder))) {
    const recorded = () => Promise.resolve([]);
    found.push({ path: gitDir, place: repoPlace({ gitDir }), counterparts: shared(gitDir), recorded, goes: true });
  }
  return found;
}

async function recordedAt(mark: Mark, path: string): Promise<string[]> {
  const entry = await git(repoPlace(mark), ["ls-tree", "-z", mark.baseCommit, "--", path]);
  const [, commit] = /^160000 commit ([0-9a-f]+)\t/.exec(entry) ?? [];
  return commit === undefined ? [] : [commit];
}

/** Paths with uncommitted changes in the checkout of a nested repository; the repository itself if git cannot tell. */
export async function nestedChanges({ place }: NestedRepo): Promise<string[]> {
  const { workTree } = place;
  if (workTree === undefined) return [];
  try {
    return (await uncommittedEntries({ ...place, workTree })).map((entry) => entry.slice(3));
  } catch {
    return [""];
  }
}

/** A few of the commits that would be lost with a nested repository. */
export async function commitsOnlyIn(nested: NestedRepo): Promise<string[]> {
  const { place, goes } = nested;
  const head = await tryGit(place, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  const tips = [...(head.code === 0 ? [head.stdout.toString("utf8").trim()] : []), ...leftBehind(place.gitDir)];
  if (!goes) return unreachable(place, tips, ["--branches", "--tags", "--remotes"]);
  const refs = await git(place, ["for-each-ref", "--format=%(objectname) %(refname)"]);
  for (const [, tip = ""] of refs.matchAll(/^(\S+) (?!refs\/(remotes|tags)\/)/gm)) tips.push(tip);
  const only: string[] = [];
  for (const tip of new Set(tips)) if (await isOnlyIn(nested, tip)) only.push(tip);
  return only;
}

/** True if the nested repository has the commit, and neither a remote nor the person's own copy is known to have it. */
export async function isOnlyIn({ place, recorded, counterparts }: NestedRepo, commit: string): Promise<boolean> {
  if ((await tryGit(place, ["cat-file", "-e", `${commit}^{commit}`])).code !== 0) return false;
  const known = ["--remotes", "--tags", ...fetched(place.gitDir), ...(await recorded())];
  if ((await unreachable(place, [commit], known)).length === 0) return false;
  for (const gitDir of counterparts) {
    if (!isGitDir(gitDir)) continue;
    const args = ["rev-list", "--max-count=1", commit, "--not", "--all", "--"];
    const answer = await tryGit(repoPlace({ gitDir }), args);
    if (answer.code === 0 && answer.stdout.length === 0) return false;
  }
  return true;
}

/** Those of the commits and their ancestors that are not reachable from the others. */
export async function unreachable(place: GitLocation, commits: readonly string[], from: string[]): Promise<string[]> {
  if (commits.length === 0) return [];
  const args = ["rev-list", `--max-count=${NAMED}`, "--ignore-missing", ...commits, "--not", ...from, "--"];
  return (await git(place, args)).split("\n").filter((line) => line !== "");
}

/** Commits without a branch that someone switched away from: only the checkout's reflog still lists them. */
export function leftBehind(gitDir: string): string[] {
  const log = contentOf(join(gitDir, "logs", "HEAD")) ?? "";
  const moves = log.matchAll(/^([0-9a-f]{40,64}) .*\tcheckout: moving from \1 to /gm);
  return [...new Set([...moves].map(([, commit = ""]) => commit))];
}

/** What the latest fetch got: a commit fetched by its id is on no branch of the remote. */
function fetched(gitDir: string): string[] {
  return (contentOf(join(gitDir, "FETCH_HEAD")) ?? "").match(/^[0-9a-f]{40,64}(?=\t)/gm) ?? [];
}

/**
 * The folders in and below these whose entries pass. Skips git's own folders, and only those: a project may well have
 * a folder `objects`.
 */
async function foldersWith(tops: readonly string[], test: (names: string[]) => boolean): Promise<string[]> {
  const found: string[] = [];
  const waiting = [...tops];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = await entriesOf(folder);
    const names = entries.map(({ name }) => name);
    if (test(names)) found.push(folder);
    const isGits = ["HEAD", "objects", "refs"].every((name) => names.includes(name));
    for (const entry of entries) {
      if (entry.isDirectory() && entry.name !== ".git" && !(isGits && entry.name === "objects"))
        waiting.push(join(folder, entry.name));
    }
  }
  return found;
}

/** Asynchronous: a folder of dependencies has thousands of entries, and the process must stay responsive. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Git's folder for the checkout at `folder`; null if there is no usable one. */
function gitDirOf(folder: string): string | null {
  const entry = join(folder, ".git");
  const [, named] = /^gitdir: (.+?)[\r\n]*$/.exec(contentOf(entry) ?? "") ?? [];
  const gitDir = named === undefined ? entry : resolve(folder, named);
  return isGitDir(gitDir) ? gitDir : null;
}

function isGitDir(gitDir: string): boolean {
  return contentOf(join(gitDir, "HEAD")) !== null;
}

function commonDirOf(gitDir: string): string {
  const named = contentOf(join(gitDir, "commondir"))?.trim();
  return named ? resolve(gitDir, named) : gitDir;
}
