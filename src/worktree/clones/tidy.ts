/**
 * Removes folders of queued tasks that nobody needs any more, and repositories of the cache without any. Invariant: a
 * folder with uncommitted changes, or with commits that the remote does not have, stays, however old it is; so does one
 * that cannot be judged.
 */
import { existsSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { uncommittedPaths } from "../changes.ts";
import { conditionOf } from "../condition.ts";
import { discard } from "../discard.ts";
import { git } from "../git/git.ts";
import { findTip } from "../git/repo.ts";
import { pruneStandIns } from "../git/stand-in.ts";
import { lossOf } from "../losses.ts";
import { type Marked, marksIn } from "../mark.ts";
import { ownedAt, repoPlace } from "../owned.ts";
import { withRepositoryLock } from "../repository-lock.ts";
import { removeUnused, type Tidying } from "../tidying.ts";
import { headOf } from "../worktree-state.ts";
import { READY } from "./mirror.ts";
import { mirrorsFolder, tasksFolder } from "./task-clone.ts";

/** A folder goes when it is this old, or when there are this many newer ones; never in its first hour. */
const OLD_MS = 7 * 86_400_000;
const NEWEST = 50;
const YOUNG_MS = 3_600_000;
/** The same for repositories without folders, since they were last used. */
const OLD_MIRROR_MS = 30 * 86_400_000;
const NEWEST_MIRRORS = 20;

interface TidyRequest extends Tidying {
  /** The folder for all clones. */
  base: string;
  now: number;
  /** Whether what a folder was made for, by that id, may still work in it, or has not begun yet. */
  isInUse(id: string): Promise<boolean>;
}

/** Returns what was removed, by path. */
export async function tidyClones(request: TidyRequest): Promise<string[]> {
  if (!existsSync(request.base)) return [];
  const base = realpathSync(request.base);
  const { now } = request;
  pruneStandIns();
  const marked = marksIn(tasksFolder(base)).toSorted((one, other) => madeAt(other) - madeAt(one));
  const removed: string[] = [];
  for (const [index, each] of marked.entries()) {
    const age = now - madeAt(each);
    const condition = conditionOf(each);
    const isDue = condition === "unfinished" || (age > YOUNG_MS && (index >= NEWEST || age > OLD_MS));
    if (!isDue) continue;
    await removeUnused(request, each.path, async (vacate) => {
      if (!(await isDisposable(each)) || (await request.isInUse(each.mark.attemptId))) return;
      await vacate();
      await discard(each);
      removed.push(each.path);
    });
  }
  return [...removed, ...(await tidyMirrors(request, base))];
}

const madeAt = ({ mark }: Marked) => Date.parse(mark.createdAt);

/** Whether everything in it is elsewhere, too. */
async function isDisposable(marked: Marked): Promise<boolean> {
  try {
    const condition = conditionOf(marked);
    if (condition === "repo_missing") return !existsSync(marked.path);
    if (condition === "foreign" || condition === "making") return false;
    const { mark } = marked;
    const place = repoPlace(mark);
    const tip = await findTip(place, mark.branch);
    const heads = tip === null ? [] : [tip];
    if (condition === "ready") {
      const owned = ownedAt(marked.path);
      if ((await uncommittedPaths(owned)).length > 0) return false;
      if ((await lossOf(marked, owned.adminFolder)) !== null) return false;
      heads.push(await headOf(owned));
    }
    if (heads.length === 0) return true;
    const only = await git(place, ["rev-list", "--count", ...heads, "--not", mark.baseCommit, "--remotes", "--"]);
    return only === "0";
  } catch {
    return false;
  }
}

async function tidyMirrors({ now, onFailure, signal }: TidyRequest, base: string): Promise<string[]> {
  const cache = mirrorsFolder(base);
  const mirrors = (existsSync(cache) ? readdirSync(cache) : [])
    .map((name) => ({ folder: join(cache, name), usedAt: lastUse(join(cache, name)) }))
    .toSorted((one, other) => other.usedAt - one.usedAt);
  const removed: string[] = [];
  for (const [index, { folder, usedAt }] of mirrors.entries()) {
    const isDue = (at: number) =>
      now - at > YOUNG_MS &&
      (index >= NEWEST_MIRRORS || now - at > OLD_MIRROR_MS) &&
      !marksIn(tasksFolder(base)).some(({ mark }) => mark.gitDir.startsWith(`${folder}/`));
    if (signal.aborted || !isDue(usedAt)) continue;
    try {
      await withRepositoryLock(folder, async () => {
        // A task may have fetched it while this waited. Between its fetch and its mark, only the time tells.
        if (existsSync(join(folder, READY)) && !isDue(lastUse(folder))) return;
        removeMirror(folder);
        removed.push(folder);
      });
    } catch (thrown) {
      onFailure(folder, thrown);
    }
  }
  return removed;
}

/** Its lock file goes with it: whoever waits for it begins anew. Removed in part only, it counts as incomplete. */
function removeMirror(folder: string): void {
  rmSync(join(folder, READY), { force: true });
  rmSync(folder, { recursive: true, force: true });
}

function lastUse(folder: string): number {
  const found = [join(folder, READY), folder].map((path) => statSync(path, { throwIfNoEntry: false }));
  return found.find((each) => each !== undefined)?.mtimeMs ?? Number.POSITIVE_INFINITY;
}
