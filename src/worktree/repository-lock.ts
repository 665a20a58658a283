/**
 * Lets one process at a time work on a repository: fast-forwarding a checkout takes git several steps, and two at once
 * would leave it with bogus changes. The lock is a file in git's folder; one whose process died does not count.
 */
import { linkSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { AsyncAgentsError } from "../model/errors.ts";
import { KeyedQueue } from "../process/keyed-queue.ts";
import { contentOf } from "./git/plain-file.ts";
import { isRunning, type Maker, makerSchema, ownMaker } from "./maker.ts";

const PATIENCE = 60_000;
const PAUSE = 30;

const queue = new KeyedQueue();

interface LockOptions {
  /** How long to wait for others. */
  patience?: number;
  /** Makes the folder if there is none: whoever had the lock before may have removed it. */
  makesFolder?: boolean;
}

/** Runs `use` while no other call for the repository runs, in this or another process. `use` may remove the folder. */
export function withRepositoryLock<T>(
  gitDir: string,
  use: () => Promise<T>,
  { patience = PATIENCE, makesFolder = false }: LockOptions = {},
): Promise<T> {
  return queue.run(gitDir, () => locked(gitDir, use, { patience, makesFolder }));
}

async function locked<T>(
  gitDir: string,
  use: () => Promise<T>,
  { patience, makesFolder }: Required<LockOptions>,
): Promise<T> {
  const file = join(gitDir, "asyncagents.lock");
  const end = performance.now() + patience;
  while (!tryLock(file, makesFolder)) {
    if (performance.now() > end) {
      const message = `Another process is changing ${gitDir}. Try again; if there is none, delete ${file}.`;
      throw new AsyncAgentsError("worktree_busy", message);
    }
    await pause(PAUSE);
  }
  try {
    return await use();
  } finally {
    // If the folder was removed, another process may have made it anew, and have the lock.
    if (makerIn(contentOf(file) ?? "")?.token === ownMaker().token) rmSync(file, { force: true });
  }
}

function tryLock(file: string, makesFolder: boolean): boolean {
  const maker = ownMaker();
  const own = `${file}.${maker.token}`;
  try {
    if (makesFolder) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(own, JSON.stringify(maker));
    linkSync(own, file);
    return true;
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    // Another process has just removed the folder.
    if (code === "ENOENT" && makesFolder) return false;
    if (code !== "EEXIST") throw thrown;
    breakStale(file);
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

function breakStale(file: string): void {
  try {
    const { ino } = lstatSync(file);
    const maker = makerIn(contentOf(file) ?? "");
    if (maker && isRunning(maker)) return;
    // Another process may have just broken and acquired it.
    if (lstatSync(file).ino === ino) rmSync(file);
  } catch {
    // It was released meanwhile.
  }
}

/** Null for a file that a full disk left incomplete, and for one that we did not write. */
function makerIn(text: string): Maker | null {
  try {
    return makerSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
