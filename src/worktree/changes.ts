/**
 * The uncommitted content of a worktree, and its checkout as a git tree. Invariant: looking changes neither the
 * worktree's index nor the repository: the index copy and new objects live in a temporary folder that is removed
 * afterwards.
 */
import { closeSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AsyncAgentsError } from "../model/errors.ts";
import { type GitLocation, git, gitFailure, tryGit } from "./git/git.ts";
import { copyIndex, INDEX_LIMIT, uncommittedEntries, withIndex } from "./git/index-copy.ts";
import { nestedChanges, nestedRepos } from "./git/nested-repos.ts";
import { assertLinksElsewhere } from "./losses.ts";
import type { Owned } from "./owned.ts";

interface CheckoutSnapshot {
  tree: string;
  /** Lets git find the tree. */
  environment: Record<string, string>;
  /** What git could not read, in its words; null if the tree is complete. */
  incomplete: string | null;
}

/** Paths with uncommitted changes, including untracked ones and those in submodules. Copied files do not count. */
export async function uncommittedPaths(owned: Owned): Promise<string[]> {
  const { place, mark } = owned;
  const entries = await uncommittedEntries(place);
  const isCopy = (entry: string) => entry.startsWith("?? ") && mark.copied.includes(entry.slice(3));
  const paths = entries.filter((entry) => !isCopy(entry)).map((entry) => entry.slice(3));
  return [...paths, ...(await changesInSubmodules(owned))];
}

/** Paths in submodules, at any depth. Git itself would look into each with the submodule's own config. */
async function changesInSubmodules(owned: Owned): Promise<string[]> {
  const links = await gitlinks(owned.place, {});
  if (links.length === 0) return [];
  const found: string[] = [];
  for (const nested of await nestedRepos(owned, links)) {
    found.push(...(await nestedChanges(nested)).map((path) => join(nested.path, path)));
  }
  return found;
}

/** Paths that the index records as separate repositories. */
async function gitlinks(place: GitLocation, environment: Record<string, string>): Promise<string[]> {
  const listed = await git(place, ["ls-files", "--stage", "-z"], { environment, maxBytes: INDEX_LIMIT });
  return listed
    .split("\0")
    .flatMap((entry) => (entry.startsWith("160000 ") ? entry.slice(entry.indexOf("\t") + 1) : []));
}

/** Provides the checkout as a tree while `use` runs. */
export async function withSnapshot<T>(owned: Owned, use: (snapshot: CheckoutSnapshot) => Promise<T>): Promise<T> {
  return withIndex(owned.place, async (index, folder) => {
    const objects = join(folder, "objects");
    mkdirSync(objects);
    const environment = {
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(owned.mark.gitDir, "objects"),
    };
    const incomplete = await addAll(owned, environment);
    return use({ tree: await git(owned.place, ["write-tree"], { environment }), environment, incomplete });
  });
}

/** Commits everything except the copied files; changes inside submodules stay. */
export async function commitAll(owned: Owned, message: string): Promise<void> {
  const { place, repoPlace: repo, adminFolder, mark } = owned;
  const lock = lockIndex(owned);
  await withIndex(owned.place, async (index) => {
    await addAll(owned, { GIT_INDEX_FILE: index });
    const tree = await git(place, ["write-tree"], { environment: { GIT_INDEX_FILE: index } });
    const head = await git(place, ["rev-parse", "--verify", "HEAD^{commit}"]);
    if (tree === (await git(repo, ["rev-parse", `${head}^{tree}`]))) return;
    const commit = await git(place, ["commit-tree", tree, "-p", head, "-F", "-"], { input: withLineEnd(message) });
    await git(place, ["update-ref", "-m", "commit: asyncagents", `refs/heads/${mark.branch}`, commit, head]);
    copyIndex(index, lock);
    renameSync(lock, join(adminFolder, "index"));
  }).finally(() => rmSync(lock, { force: true }));
}

/** As git does it: one process at a time writes a new index beside the old one. */
function lockIndex({ adminFolder, path }: Owned): string {
  const lock = join(adminFolder, "index.lock");
  try {
    closeSync(openSync(lock, "wx"));
    return lock;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
    const message = `A git process is working in ${path}. Try again; if there is none, delete ${lock}.`;
    throw new AsyncAgentsError("worktree_busy", message, { cause: thrown });
  }
}

/** Rejects a checkout that cannot be committed without losing something. */
export async function assertCommittable(owned: Owned): Promise<void> {
  if (await git(owned.place, ["ls-files", "--unmerged"])) {
    throw new AsyncAgentsError("worktree_dirty", `${owned.path} has conflicts. Resolve and commit them there first.`);
  }
  const inside = await changesInSubmodules(owned);
  if (inside.length > 0) {
    const message = `Submodules in ${owned.path} have uncommitted changes (${inside.slice(0, 5).join(", ")}). Commit and push them there, or delete them, then try again.`;
    throw new AsyncAgentsError("worktree_dirty", message, { details: { paths: inside.slice(0, 100) } });
  }
  const problem = await withSnapshot(owned, async ({ tree, environment, incomplete }) => {
    const nested = await addedRepositories(owned, tree, environment);
    if (nested.length > 0) return `these are separate repositories: ${nested.join(", ")}`;
    await assertLinksElsewhere(owned, tree, environment);
    return incomplete;
  });
  if (problem) {
    throw new AsyncAgentsError(
      "worktree_dirty",
      `Not everything in ${owned.path} can be committed: ${problem}. Move or delete it, or commit by hand, then try again.`,
    );
  }
}

/**
 * What git could not add, in its words. Submodules need a separate command: `git add` looks for changes inside them,
 * and runs what their config says.
 */
async function addAll(owned: Owned, environment: Record<string, string>): Promise<string | null> {
  const { place } = owned;
  const links = await gitlinks(place, environment);
  const left = [...links, ...(await copiesInView(owned))];
  const input = [".", ...left.map((path) => `:(exclude,top,literal)${path}`)].join("\0");
  const args = ["add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul"];
  const added = await tryGit(place, args, { environment, input });
  if (added.code !== 0) return added.stderr.trim() || `git add ended with code ${added.code}`;
  if (links.length === 0) return null;
  const update = ["update-index", "--add", "--remove", "-z", "--stdin"];
  const updated = await tryGit(place, update, { environment, input: `${links.join("\0")}\0` });
  return updated.code === 0 ? null : updated.stderr.trim() || `git update-index ended with code ${updated.code}`;
}

/** Copied files that git would add. Git reports an error when told to exclude one that it ignores. */
async function copiesInView({ place, mark }: Owned): Promise<string[]> {
  if (mark.copied.length === 0) return [];
  const args = ["check-ignore", "-z", "--stdin"];
  const answer = await tryGit(place, args, { input: `${mark.copied.join("\0")}\0` });
  if (answer.code > 1) throw gitFailure(place, args, answer);
  const ignored = new Set(answer.stdout.toString("utf8").split("\0"));
  return mark.copied.filter((path) => !ignored.has(path));
}

/** Folders with their own git: a commit would contain only their names and lose their content. */
async function addedRepositories(
  { place }: Owned,
  tree: string,
  environment: Record<string, string>,
): Promise<string[]> {
  const raw = await git(place, ["diff-tree", "-r", "-z", "--raw", "--diff-filter=AT", "HEAD", tree], { environment });
  const fields = raw.split("\0");
  return fields.flatMap((field, i) => (/^:\d+ 160000 /.test(field) ? (fields[i + 1] ?? []) : []));
}

/** A message in the form that git expects. */
export function withLineEnd(message: string): string {
  return message.endsWith("\n") ? message : `${message}\n`;
}
