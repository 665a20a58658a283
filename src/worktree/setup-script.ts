/**
 * Runs a repository's setup script in a fresh worktree. It is a shell script by its owner's own wish, and the only text
 * that goes to a shell here: nothing of ours is put into it. Invariant: when it is over, when its time is up, or when
 * this process dies, none of its process group is left.
 */
import { spawn } from "node:child_process";
import { AsyncAgentsError } from "../model/errors.ts";
import { plainEnvironment, signalGroup } from "./git/git-process.ts";

export interface Setup {
  script: string;
  worktree: string;
  /** The script finds it as ASYNCAGENTS_REPO. */
  repo: string;
  /** Milliseconds. */
  timeLimit: number;
}

const KEPT_OUTPUT = 8_000;

// The script comes through standard input: arguments are for every user of the machine to see. Standard input closes when
// this process has died, in whatever way: then all must end.
const GUARD = `
exec 3<&0 </dev/null
IFS= read -r -d '' script <&3 || exit 1
( read -r _ <&3; kill -KILL -- "-$$" ) >/dev/null 2>&1 &
( exec 3<&-; eval "$script" )
`;

/** The end of what the script printed. */
export async function runSetup({ script, worktree, repo, timeLimit }: Setup): Promise<string> {
  if (script.includes("\0")) {
    throw new AsyncAgentsError("setup_failed", `The setup script of ${repo} has a NUL character in it. Remove it.`);
  }
  const child = spawn("bash", ["-c", GUARD, "setup"], {
    cwd: worktree,
    env: { ...plainEnvironment(), ASYNCAGENTS_REPO: repo },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  const keep = (part: Buffer) => {
    output = (output + part.toString("utf8")).slice(-KEPT_OUTPUT);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.stdin.on("error", () => {});
  child.stdin.write(`${script}\0`);
  const { promise: ended, resolve } = Promise.withResolvers<string | null>();
  const timer = setTimeout(() => {
    resolve(`took longer than ${timeLimit} ms and was ended`);
    signalGroup(child.pid, "SIGKILL");
  }, timeLimit);
  child.on("error", (thrown) => resolve(`could not be started (bash is needed): ${thrown.message}`));
  child.on("exit", (code, signal) => resolve(code === 0 ? null : `ended with ${signal ?? `code ${code}`}`));
  // What it printed last may come after its end; what it left behind would hold the pipes for ever.
  const drained = new Promise((resolve) => child.on("close", resolve));
  const problem = await ended;
  clearTimeout(timer);
  signalGroup(child.pid, "SIGKILL");
  if (child.pid !== undefined) await drained;
  if (problem === null) return output;
  throw new AsyncAgentsError(
    "setup_failed",
    `The setup script of ${repo} ${problem}. Correct it and start again. It said last: ${output.trim() || "nothing"}`,
    { details: { repo, output } },
  );
}
