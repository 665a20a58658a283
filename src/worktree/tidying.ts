/**
 * What tidying needs of whoever does it: folders are removed one by one, each while nothing begins in it, and one that
 * is used or cannot be removed does not keep the others. Decides nothing about what may go.
 */
import { AsyncAgentsError } from "../model/errors.ts";

/** Told of each folder that could not be removed; the others are removed all the same. */
export type OnFailure = (path: string, thrown: unknown) => void;

export interface Tidying {
  /**
   * Does the work while nothing begins in the folder. The work calls `vacate` directly before it removes anything. Both
   * reject with `worktree_busy` if something is live there.
   */
  removing(path: string, work: (vacate: () => Promise<void>) => Promise<void>): Promise<void>;
  onFailure: OnFailure;
  /** Aborted to remove no further folder. */
  signal: AbortSignal;
}

/** For whoever has nothing open, and begins nothing meanwhile. */
export const ALONE: Tidying = {
  removing: (_path, work) => work(async () => {}),
  onFailure: () => {},
  signal: new AbortController().signal,
};

/** Does work that removes a folder, unless that is used. Never rejects. */
export async function removeUnused(
  { removing, onFailure, signal }: Tidying,
  path: string,
  work: (vacate: () => Promise<void>) => Promise<void>,
): Promise<void> {
  if (signal.aborted) return;
  try {
    await removing(path, work);
  } catch (thrown) {
    if (!AsyncAgentsError.isInstance(thrown) || thrown.code !== "worktree_busy") onFailure(path, thrown);
  }
}
