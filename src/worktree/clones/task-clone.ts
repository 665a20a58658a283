/**
 * The folder of a queued task on a machine that did not have it: a worktree of its own, on a new branch, from a known
 * repository of this machine or from the cache. Invariant: nobody removes it while it has work that is nowhere else
 * (tidy.ts).
 */
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { KeyedQueue } from "../../process/keyed-queue.ts";
import { conditionOf } from "../condition.ts";
import { discard } from "../discard.ts";
import { inspectRepo } from "../git/repo.ts";
import { makeWorktrees } from "../make.ts";
import { type Marked, marksIn } from "../mark.ts";
import { expanded, remotesOf } from "./folder-source.ts";
import { fetchedMirror, hasCommit, type MirrorRequest } from "./mirror.ts";

const queue = new KeyedQueue();

/** How many folders there may be whose work is nowhere else. */
const MOST_FOLDERS = 500;

export interface CloneRequest extends Omit<MirrorRequest, "cache"> {
  /** The folder for all clones. */
  base: string;
  /** Different for each start of a task: a second one must not see what the first one did. */
  id: string;
  /** What the task is about; part of the folder's and the branch's names. */
  name: string;
  /** The folder within the repository. */
  path: string;
  /** Repositories of this machine that may be the same. */
  known: readonly string[];
}

export interface TaskFolder {
  directory: string;
  branch: string;
}

export const tasksFolder = (base: string) => join(base, "tasks");
export const mirrorsFolder = (base: string) => join(base, "repositories");

/** Rejects with `repo_unavailable` if another machine may do better, with `repo_invalid` if none can. */
export async function makeTaskClone(request: CloneRequest): Promise<TaskFolder> {
  mkdirSync(request.base, { recursive: true, mode: 0o700 });
  const base = realpathSync(request.base);
  try {
    // A runner may claim a task again while it is still busy with a claim that it lost.
    return await queue.run(request.id, () => made({ ...request, base }));
  } catch (thrown) {
    if (AsyncAgentsError.isInstance(thrown) && thrown.code === "repo_invalid") throw thrown;
    throw unavailable(thrown);
  }
}

async function made(request: CloneRequest): Promise<TaskFolder> {
  const { base, id, name, path, commit } = request;
  const earlier = marksIn(tasksFolder(base));
  const own = earlier.find(({ mark }) => mark.attemptId === id);
  if (own) {
    const condition = conditionOf(own);
    // Made for a claim that was lost before the agent was prompted.
    if (condition === "ready") return folderIn(own, path);
    if (condition === "making") {
      throw new AsyncAgentsError("repo_unavailable", `Another runner of this machine is making the folder of ${id}.`);
    }
    await discard(own);
  }
  if (earlier.length >= MOST_FOLDERS) throw tooMany(base);
  const repo = (await knownRepository(request)) ?? (await cached(request));
  const repos = [{ path: repo.path, targetBranch: repo.branch, commit }];
  await makeWorktrees({ attemptId: id, base: tasksFolder(base), name, repos }).catch((thrown: unknown) => {
    // Whatever it is, it is about this machine: the repository has the commit.
    throw unavailable(thrown);
  });
  const marked = marksIn(tasksFolder(base)).find(({ mark }) => mark.attemptId === id);
  if (marked) return folderIn(marked, path);
  throw new AsyncAgentsError("internal", `The folder of ${id} was removed while it was made.`);
}

function unavailable(thrown: unknown): AsyncAgentsError {
  if (AsyncAgentsError.isInstance(thrown) && thrown.code === "repo_unavailable") return thrown;
  return new AsyncAgentsError("repo_unavailable", messageOf(thrown), { cause: thrown });
}

async function cached(request: CloneRequest): Promise<{ path: string; branch: string }> {
  const { gitDir, branch } = await fetchedMirror({ ...request, cache: mirrorsFolder(request.base) });
  return { path: gitDir, branch };
}

/** A repository of this machine with the same remote, if it has the commit: nothing is fetched into it. */
async function knownRepository({ known, remote, commit }: CloneRequest) {
  for (const path of known) {
    if (!existsSync(path)) continue;
    const repo = await inspectRepo(path).catch(() => null);
    if (repo === null || !(await hasCommit(repo.place, commit))) continue;
    for (const { url } of await remotesOf(repo)) {
      if ((await expanded(repo.place, url)) === remote) return { path: repo.root, branch: repo.defaultBranch };
    }
  }
  return null;
}

/** The folder within the checkout. A link in the repository must not lead out of it. */
function folderIn({ path: root, mark }: Marked, path: string): TaskFolder {
  const directory = join(root, path);
  const isPlain = !isAbsolute(path) && !path.split("/").includes("..");
  const real = isPlain && existsSync(directory) ? realpathSync(directory) : null;
  if (real === directory) return { directory, branch: mark.branch };
  const message = `The folder ${JSON.stringify(path)} is not in the commit ${mark.baseCommit.slice(0, 12)} of the repository. Commit and push it, then queue the task again.`;
  throw new AsyncAgentsError("repo_invalid", message, { details: { path } });
}

function tooMany(base: string): AsyncAgentsError {
  const message = `There are ${MOST_FOLDERS} folders of earlier tasks in ${tasksFolder(base)} with work that is nowhere else. Push or delete what is in them.`;
  return new AsyncAgentsError("repo_unavailable", message);
}
