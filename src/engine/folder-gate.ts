/**
 * Lets work begin in a folder, or the folder be removed, but not both at once: what begins something there, or in a
 * subfolder, waits while the folder is closed. Invariant: when the work of `close` begins, nothing is beginning in the
 * folder, and nothing does until that work is over. One process only, and it does not know what runs: whoever closes a
 * folder looks whether something is live in it.
 */
import { statSync } from "node:fs";
import { AsyncAgentsError } from "../model/errors.ts";
import { folderProblem } from "../model/folder-problem.ts";
import type { Clock } from "../process/clock.ts";
import { settlesWithin } from "../process/deadline.ts";

/** How long each side waits for the other. */
const PATIENCE_MS = 10_000;

interface UnderWay {
  directory: string;
  /** Never rejects. */
  over: Promise<unknown>;
}

export class FolderGate {
  readonly #clock: Pick<Clock, "after">;
  readonly #beginnings = new Set<UnderWay>();
  readonly #closings = new Set<UnderWay>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** Does work that begins something in a folder, which stays meanwhile. Rejects if the folder is gone. */
  keep<T>(directory: string, work: () => Promise<T>): Promise<T> {
    const closing = [...this.#closings].find((each) => isWithin(directory, each.directory));
    return closing === undefined ? this.#begin(directory, work) : this.#beginAfter(closing, directory, work);
  }

  /** Does work while nothing begins in a folder or below it. */
  async close<T>(directory: string, work: () => Promise<T>): Promise<T> {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const closing = { directory, over };
    this.#closings.add(closing);
    try {
      const within = [...this.#beginnings].filter((each) => isWithin(each.directory, directory));
      const begun = Promise.all(within.map((each) => each.over));
      if (within.length > 0 && !(await this.#settles(begun)))
        throw isBusy(directory, "Something is just starting in it");
      return await work();
    } finally {
      this.#closings.delete(closing);
      resolve();
    }
  }

  async #beginAfter<T>(closing: UnderWay, directory: string, work: () => Promise<T>): Promise<T> {
    if (await this.#settles(closing.over)) return this.keep(directory, work);
    throw isBusy(directory, "It is being merged, removed or tidied up");
  }

  #begin<T>(directory: string, work: () => Promise<T>): Promise<T> {
    const problem = folderProblem(directory, statSync);
    if (problem !== null) return Promise.reject(isGone(directory, problem));
    const begun = work();
    const beginning = { directory, over: begun.catch(() => {}).finally(() => this.#beginnings.delete(beginning)) };
    this.#beginnings.add(beginning);
    return begun;
  }

  #settles(work: Promise<unknown>): Promise<boolean> {
    return settlesWithin(work, { timeout: PATIENCE_MS, clock: this.#clock });
  }
}

/** Whether a path is a folder, or is below it. Both are real paths. */
export function isWithin(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder}/`);
}

function isBusy(directory: string, why: string): AsyncAgentsError {
  const message = `${directory} cannot be used now: ${why}. Try again in a moment.`;
  return new AsyncAgentsError("worktree_busy", message, { details: { directory } });
}

function isGone(directory: string, problem: string): AsyncAgentsError {
  const message = `${directory} ${problem}, so nothing can be started there: it was merged, tidied up or deleted. Start a new task in another folder.`;
  return new AsyncAgentsError("worktree_not_found", message, { details: { directory } });
}
