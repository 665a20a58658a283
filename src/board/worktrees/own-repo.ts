/**
 * Which repository a session of OpenCode may use: the one that OpenCode itself was opened in. A model that can write
 * there can refer to any other (`.git` files, links), and nobody approves folders here. Invariant: every folder of the
 * repository is in the checkout that OpenCode found when it started, unless git's folder names that checkout.
 */
import { realpathSync } from "node:fs";
import { AsyncAgentsError } from "../../model/errors.ts";
import { foldersOf, type Repo } from "../../worktree/git/repo.ts";

/** As OpenCode gives them to a plugin. */
export interface OpenCodePlace {
  /** Where it was opened. */
  directory: string;
  /** The top of the checkout around that; `/` if there is none. */
  worktree: string;
}

export async function assertOwnRepo(repo: Repo, { directory, worktree }: OpenCodePlace): Promise<void> {
  const [opened, checkout] = [realpathSync(directory), realpathSync(worktree)];
  const own = checkout !== "/" && isWithin(opened, checkout) ? checkout : opened;
  if ((await foldersOf(repo)).every((folder) => isWithin(folder, own))) return;
  // Names nothing of the repository: it may be somebody else's.
  const message = `The repository of ${directory} is partly outside of ${own}, which is what OpenCode was opened in. Launch without worktree. If the repository is yours and newer than this OpenCode, a person can restart OpenCode.`;
  throw new AsyncAgentsError("not_allowed", message);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
