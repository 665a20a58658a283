/**
 * The cache of repositories from elsewhere: one bare repository for each address, `<cache>/<digest>/<name>.git`, whose
 * branches are those of the remote, under refs/remotes/origin. One process at a time changes it. Invariant: one without
 * the file `remote` beside it is not complete, and is made anew. Agents push from its worktrees, so it has a config for
 * them, which we never read (git.ts).
 */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { withoutCredentials } from "../../model/text/without-credentials.ts";
import { repoFolders } from "../folder-names.ts";
import { type GitLocation, git, gitFailure, tryGit } from "../git/git.ts";
import { runGit } from "../git/git-process.ts";
import { withRepositoryLock } from "../repository-lock.ts";
import { remoteName, remoteProblem } from "./remote.ts";

const FETCH_TIME_LIMIT = 15 * 60_000;
/** Others fetch first. */
const PATIENCE = 20 * 60_000;
/** Present once the repository is complete; its time is that of the last use. */
export const READY = "remote";

/** Git may use the network here, and nowhere else; nobody is there who could type a password. */
const NETWORK = {
  GIT_ALLOW_PROTOCOL: "https:ssh:file",
  GIT_ASKPASS: "",
  SSH_ASKPASS: "",
  SSH_ASKPASS_REQUIRE: "never",
};
const BRANCHES = "+refs/heads/*:refs/remotes/origin/*";
const TAGS = "+refs/tags/*:refs/tags/*";

export interface MirrorRequest {
  /** The folder of all of them. */
  cache: string;
  remote: string;
  commit: string;
  /** Gets lines about the progress of a long fetch. */
  report?(line: string): void;
  signal?: AbortSignal | undefined;
  timeLimit?: number;
}

export interface Mirror {
  gitDir: string;
  /** A local branch that exists, for what needs one. */
  branch: string;
}

/** The folder of a mirror and what belongs to it. */
export function mirrorFolder(cache: string, remote: string): string {
  return join(cache, createHash("sha256").update(remote).digest("hex").slice(0, 24));
}

/** The repository of that address, with that commit. Fetches only if the commit is not there. */
export async function fetchedMirror(given: MirrorRequest): Promise<Mirror> {
  const problem = remoteProblem(given.remote);
  if (problem !== null) throw new AsyncAgentsError("repo_invalid", `The address of the repository ${problem}.`);
  const request = { ...given, remote: withoutCredentials(given.remote) };
  const { cache, remote, commit } = request;
  if (!/^[0-9a-f]{40,64}$/.test(commit)) throw new AsyncAgentsError("repo_invalid", `"${commit}" is not a commit.`);
  const folder = mirrorFolder(cache, remote);
  const [name = "repo"] = repoFolders([remoteName(remote)]);
  const gitDir = join(folder, `${name}.git`);
  const prepare = async () => {
    if (!existsSync(join(folder, READY))) await begin(gitDir, remote);
    const place = { cwd: gitDir, gitDir, commonDir: gitDir };
    if (!(await hasCommit(place, commit))) await fetchCommit(place, request);
    const branch = await localBranch(place, commit);
    writeFileSync(join(folder, READY), `${remote}\n`, { mode: 0o600 });
    utimesSync(join(folder, READY), new Date(), new Date());
    return { gitDir, branch };
  };
  return withRepositoryLock(folder, prepare, { patience: PATIENCE, makesFolder: true });
}

async function begin(gitDir: string, remote: string): Promise<void> {
  rmSync(gitDir, { recursive: true, force: true });
  const args = ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", gitDir];
  const answer = await runGit({ cwd: dirname(gitDir), args });
  if (answer.code !== 0) throw gitFailure({ cwd: dirname(gitDir) }, args, answer);
  const url = remote.replace(/[\\"]/g, "\\$&");
  appendFileSync(join(gitDir, "config"), `[remote "origin"]\n\turl = "${url}"\n\tfetch = ${BRANCHES}\n`);
}

export async function hasCommit(place: GitLocation, commit: string): Promise<boolean> {
  return (await tryGit(place, ["cat-file", "-e", `${commit}^{commit}`])).code === 0;
}

async function fetchCommit(place: GitLocation, request: MirrorRequest): Promise<void> {
  const { remote, commit } = request;
  await fetchRefs(place, request, ["--prune", "--", remote, BRANCHES, TAGS]);
  if (await hasCommit(place, commit)) return;
  // Its branch may be gone. Many servers still give out the commit.
  const direct = await tryGit(place, fetching(["--", remote, commit]), networkOptions(request)).catch(() => null);
  if (direct?.code === 0 && (await hasCommit(place, commit))) return;
  const message = `${remote} does not have the commit ${commit} any more: its branch was deleted or rewritten. Push it again, then queue the task again.`;
  throw new AsyncAgentsError("repo_invalid", message, { details: { remote, commit } });
}

async function fetchRefs(place: GitLocation, request: MirrorRequest, args: string[]): Promise<void> {
  const { remote, report } = request;
  report?.(`fetching ${remote}`);
  const answer = await tryGit(place, fetching(args), networkOptions(request)).catch((thrown: unknown) => {
    if (AsyncAgentsError.isInstance(thrown)) throw unavailable(remote, thrown.message);
    throw thrown;
  });
  if (answer.code !== 0) throw unavailable(remote, answer.stderr);
  report?.(`fetched ${remote}`);
}

function fetching(args: string[]): string[] {
  return ["fetch", "--progress", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance", ...args];
}

function networkOptions({ report, signal, timeLimit = FETCH_TIME_LIMIT }: MirrorRequest) {
  const onComplaint =
    report &&
    ((text: string) =>
      report(
        withoutCredentials(text)
          .trim()
          .split(/[\r\n]+/)
          .at(-1) ?? "",
      ));
  return { environment: NETWORK, timeLimit, signal, ...(onComplaint && { onComplaint }) };
}

/** Another machine may have the key, the network or the disk that this one lacks. */
function unavailable(remote: string, answer: string): AsyncAgentsError {
  // This person's config may have added a token to the address.
  const said = withoutCredentials(answer);
  const lines = said.split(/[\r\n]+/).filter((line) => /^(fatal|error|ssh|git|Host key|.*denied)/i.test(line.trim()));
  const why = (lines.length > 0 ? lines : [said]).join(" ").trim().slice(-500);
  const message = `${remote} could not be fetched: ${why}${/[.!]$/.test(why) ? "" : "."} ${adviceOn(said)}`;
  return new AsyncAgentsError("repo_unavailable", message, { details: { remote } });
}

function adviceOn(said: string): string {
  const check = "Check it there with: git ls-remote <address>";
  if (/Host key verification failed/i.test(said)) return "Connect to that host once by hand (ssh), to accept its key.";
  if (/denied|publickey|Authentication|could not read (Username|Password)|403|401/i.test(said)) {
    return `Give that machine's user access, with an ssh key or a credential helper. ${check}`;
  }
  if (/No space left/i.test(said)) return "Make room on that machine's disk.";
  return `See that it exists and that the machine can reach it. ${check}`;
}

/** As in any clone: the main branch, where it was at the first fetch. */
async function localBranch(place: GitLocation, commit: string): Promise<string> {
  const refs = async (folder: string, strip: number) =>
    (await git(place, ["for-each-ref", "--count=1000", `--format=%(refname:lstrip=${strip})`, folder])).split("\n");
  const own = (await refs("refs/heads/", 2)).filter((name) => name !== "" && !name.startsWith("asyncagents/"));
  const [existing] = own;
  if (existing !== undefined) return existing;
  const there = (await refs("refs/remotes/origin/", 3)).filter((name) => name !== "" && name !== "HEAD");
  const name = ["main", "master"].find((each) => there.includes(each)) ?? there[0] ?? "main";
  const tip = there.includes(name) ? `refs/remotes/origin/${name}` : commit;
  await git(place, ["update-ref", `refs/heads/${name}`, tip, ""]);
  await git(place, ["symbolic-ref", "HEAD", `refs/heads/${name}`]);
  return name;
}
