/**
 * Whether another machine can get a folder as it is from its repository: the folder is in a checkout without
 * uncommitted changes, whose commit a branch of a remote has. Asks nobody over the network: what the remote has is what
 * was fetched or pushed last. Read-only.
 */
import { realpathSync } from "node:fs";
import { relative } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { withoutCredentials } from "../../model/text/without-credentials.ts";
import { type Checkout, type GitLocation, git, tryGit } from "../git/git.ts";
import { INDEX_LIMIT, uncommittedEntries } from "../git/index-copy.ts";
import { inspectRepo, type Repo } from "../git/repo.ts";
import { standIn } from "../git/stand-in.ts";
import { remoteProblem } from "./remote.ts";

interface FolderSource {
  remote: string;
  commit: string;
  /** The folder within the repository; empty for all of it. */
  path: string;
}

/** The source, or why there is none, as a sentence without its end. */
export async function folderSource(directory: string): Promise<FolderSource | { problem: string }> {
  try {
    return await found(directory);
  } catch (thrown) {
    if (!AsyncAgentsError.isInstance(thrown)) throw thrown;
    return { problem: thrown.code === "repo_invalid" ? "it is not in a usable git repository" : thrown.message };
  }
}

async function found(directory: string): Promise<FolderSource | { problem: string }> {
  const repo = await inspectRepo(directory);
  const { place } = repo;
  if (!isCheckout(place)) return { problem: "it is a bare repository" };
  const changed = await uncommittedEntries(place);
  if (changed.length > 0) {
    const names = changed.slice(0, 3).map((entry) => entry.slice(3));
    const more = changed.length > names.length ? ", …" : "";
    return { problem: `it has uncommitted changes (${names.join(", ")}${more}); commit and push them` };
  }
  const listed = await git(place, ["ls-files", "--stage", "-z"], { maxBytes: INDEX_LIMIT });
  if (/(^|\0)160000 /.test(listed)) return { problem: "it has submodules, which a clone would lack" };
  const commit = await git(place, ["rev-parse", "--verify", "HEAD^{commit}"]);
  const remotes = await remotesOf(repo);
  const [first] = remotes;
  if (first === undefined) return { problem: "its repository has no remote" };
  let problem = "its commit is not in any branch of a remote; push it";
  for (const { name, url } of remotes) {
    if (!(await hasCommit(place, name, commit))) continue;
    const address = await completed(place, url);
    const refused = remoteProblem(address);
    const path = relative(realpathSync(repo.root), realpathSync(directory));
    if (refused === null) return { remote: withoutCredentials(address), commit, path };
    problem = `the address of its remote ${name} ${refused}`;
  }
  return { problem };
}

/** The remotes of a repository with their addresses; origin first. */
export async function remotesOf({ place }: Pick<Repo, "place">): Promise<{ name: string; url: string }[]> {
  const { config } = await standIn(place);
  const all = config.flatMap(({ name, value }) => {
    const [, remote] = /^remote\.(.+)\.url$/s.exec(name) ?? [];
    return remote === undefined || value === null ? [] : [{ name: remote, url: value }];
  });
  return all.toSorted((one, other) => Number(other.name === "origin") - Number(one.name === "origin"));
}

/** The address that other machines are told: complete, and without a token, which their own config has to supply. */
export async function expanded(place: GitLocation, url: string): Promise<string> {
  return withoutCredentials(await completed(place, url));
}

/** As the person's own config completes it (`url.….insteadOf`), which may add a token. */
async function completed(place: GitLocation, url: string): Promise<string> {
  const answer = await tryGit(place, ["ls-remote", "--get-url", "--", url]);
  return answer.code === 0 ? answer.stdout.toString("utf8").replace(/\n$/, "") : url;
}

async function hasCommit(place: GitLocation, remote: string, commit: string): Promise<boolean> {
  // Quoted, because the name of a remote is a pattern here.
  const pattern = remote.replace(/[*?[\]\\]/g, "\\$&");
  const args = ["for-each-ref", "--count=1", "--format=%(refname)", `--contains=${commit}`, `refs/remotes/${pattern}/`];
  const answer = await tryGit(place, args);
  return answer.code === 0 && answer.stdout.length > 0;
}

function isCheckout(place: GitLocation): place is Checkout {
  return place.workTree !== undefined;
}
