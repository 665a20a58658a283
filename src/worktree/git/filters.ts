/**
 * Filters (git-lfs, git-crypt) are programs that git runs on files. Those of the person's own config are run; one that
 * only a repository's config defines is not, and without it files would be checked out or committed in the wrong form.
 * Such a repository is therefore rejected. Read-only.
 */
import { AsyncAgentsError } from "../../model/errors.ts";
import { type GitLocation, tryGit } from "./git.ts";
import { standIn } from "./stand-in.ts";

const PROGRAM = /^filter\.(.+)\.(clean|smudge|process)$/s;

export async function assertFiltersKnown(place: GitLocation): Promise<void> {
  const { config } = await standIn(place);
  const named = config.flatMap(({ name }) => PROGRAM.exec(name)?.[1] ?? []);
  if (named.length === 0) return;
  const known = await ownFilters(place);
  const unknown = [...new Set(named)].filter((name) => !known.has(name));
  const [first] = unknown;
  if (first === undefined) return;
  const key = `filter.${first}`;
  throw new AsyncAgentsError(
    "repo_invalid",
    `The config of ${place.commonDir} defines the filter ${JSON.stringify(first)}, a program that git runs on files. Anyone who can edit files could have written it, so only filters of your own config are run. If you trust it, set ${key}.clean, ${key}.smudge and ${key}.process as they are there with git config --global; else remove it: git config --file ${place.commonDir}/config --remove-section ${key}`,
    { details: { filters: unknown } },
  );
}

/** The filters of the person's own config, as git finds them for this repository. */
async function ownFilters(place: GitLocation): Promise<Set<string>> {
  const args = ["config", "--null", "--name-only", "--get-regexp", "^filter\\."];
  // If git fails, none is known, and the repository is rejected.
  const names = (await tryGit(place, args)).stdout.toString("utf8").split("\0");
  return new Set(names.flatMap((name) => PROGRAM.exec(name)?.[1] ?? []));
}
