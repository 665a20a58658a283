/**
 * Runs a repository's setup script in a fresh worktree. Its owner wrote it as a shell script; it is the only text that
 * goes to a shell here, and nothing of ours is inserted into it. Invariant: when it ends, times out, or this process
 * dies, nothing of its process group is left.
 */
import { spawn } from "node:child_process";
import { AsyncAgentsError } from "../model/errors.ts";
import { plainEnvironment, signalGroup } from "./git/git-process.ts";

interface Setup {
  script: string;
  worktree: string;
  /** The script gets it as ASYNCAGENTS_REPO. */
  repo: string;
  /** Milliseconds. */
  timeLimit: number;
}

const KEPT_OUTPUT = 8_000;

// The script comes through standard input, since every user of the machine can see arguments. Standard input closes
// when this process dies in any way: then everything must end.
const GUARD = `
exec 3<&0 </dev/null
IFS= read -r -d '' script <&3 || exit 1
( read -r _ <&3; kill -KILL -- "-$$" ) >/dev/null 2>&1 &
( exec 3<&-; eval "$script" )
`;

/** Returns the end of the script's output. */
export async function runSetup({ script, worktree, repo, timeLimit }: Setup): Promise<string> {
  if (script.includes("\0")) {
    throw new AsyncAgentsError("setup_failed", `The setup script of ${repo} contains a NUL character. Remove it.`);
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
    resolve(`took longer than ${timeLimit} ms and was stopped`);
    signalGroup(child.pid, "SIGKILL");
  }, timeLimit);
  child.on("error", (thrown) => resolve(`could not be started (bash is needed): ${thrown.message}`));
  child.on("exit", (code, signal) => resolve(code === 0 ? null : `ended with ${signal ?? `code ${code}`}`));
  // Its last output may arrive after its end; leftover processes would keep the pipes open forever.
  const drained = new Promise((resolve) => child.on("close", resolve));
  const problem = await ended;
  clearTimeout(timer);
  signalGroup(child.pid, "SIGKILL");
  if (child.pid !== undefined) await drained;
  if (problem === null) return output;
  throw new AsyncAgentsError(
    "setup_failed",
    `The setup script of ${repo} ${problem}. Correct it and start again. Its last output: ${output.trim() || "nothing"}`,
    { details: { repo, output } },
  );
}
