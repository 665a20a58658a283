/**
 * What a person may not expect from a worktree: it lacks the repository's uncommitted changes, and its submodules are
 * empty. As sentences. Read-only.
 */
import { type GitLocation, git, tryGit } from "./git/git.ts";
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
  // A setup script that mentions submodules takes care of them.
  const submodules = setup?.includes("submodule") ? [] : await submodulesOf(repo.place, branch);
  if (submodules.length > 0) {
    said.push(
      `Submodules are empty in the worktree (${brief(submodules)}). To fill them, give the repository a setup script with: git submodule update --init`,
    );
  }
  return said;
}

/** Paths with uncommitted changes, untracked folders included. */
export async function uncommittedIn(place: GitLocation): Promise<string[]> {
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

async function submodulesOf(place: GitLocation, branch: string): Promise<string[]> {
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
