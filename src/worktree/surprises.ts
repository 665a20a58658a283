/**
 * What a person may not expect of a worktree before they have seen one: it has no uncommitted changes of the repository, and its
 * submodules are empty. In sentences. Reads only.
 */
import { git, type Place, tryGit } from "./git/git.ts";
import type { Repo } from "./git/repo.ts";

const NAMED = 5;

/** What to know before an attempt starts from a branch of the repository. */
export async function surprisesOf(repo: Repo, branch: string, setup: string | null): Promise<string[]> {
  const said: string[] = [];
  const changed = repo.bare ? [] : await uncommittedIn(repo.place);
  if (changed.length > 0) {
    said.push(
      `${repo.root} has uncommitted changes (${brief(changed)}). The attempt starts from the tip of ${branch}, without them.`,
    );
  }
  // Who mentions them in the setup script knows.
  const submodules = setup?.includes("submodule") ? [] : await submodulesOf(repo.place, branch);
  if (submodules.length > 0) {
    said.push(
      `Submodules are empty in the worktree (${brief(submodules)}). To fill them, give the repository a setup script with: git submodule update --init`,
    );
  }
  return said;
}

async function uncommittedIn(place: Place): Promise<string[]> {
  const args = [
    "status",
    "--porcelain=v1",
    "-z",
    "--untracked-files=normal",
    "--no-renames",
    "--ignore-submodules=dirty",
  ];
  const entries = (await git(place, args)).split("\0");
  return entries.flatMap((entry) => (entry === "" ? [] : [entry.slice(3)]));
}

async function submodulesOf(place: Place, branch: string): Promise<string[]> {
  const blob = `refs/heads/${branch}:.gitmodules`;
  if ((await tryGit(place, ["cat-file", "-e", blob])).code !== 0) return [];
  const args = ["config", "-z", "--no-includes", "--blob", blob, "--get-regexp", "^submodule\\..*\\.path$"];
  const entries = (await tryGit(place, args)).stdout.toString("utf8").split("\0");
  return entries.flatMap((entry) => (entry === "" ? [] : [entry.slice(entry.indexOf("\n") + 1)]));
}

function brief(paths: readonly string[]): string {
  const shown = paths.slice(0, NAMED).join(", ");
  return paths.length > NAMED ? `${shown} and ${paths.length - NAMED} more` : shown;
}
