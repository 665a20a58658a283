/**
 * Ends a program with everything that it started, also when this process dies first, in whatever way. What a program starts may
 * be in a session of its own, where a signal to its process group does not reach: so all carry a mark in their environment.
 * Invariant: when the watcher has acted, none of them is left (Linux; elsewhere: the process group; on Windows it does nothing).
 */
import { spawn } from "node:child_process";

export interface ProcessMark {
  /** The name of a variable in the environment of the program. */
  name: string;
  value: string;
}

// Standard input closes when we let go, or when this process has died: both mean that all must end. Some may be about to start
// another, so it looks until there are none.
const GUARD = `
read -r _
kill -9 -- "-$1" 2>/dev/null
for round in 1 2 3 4 5; do
  found=$(grep -lzxF "$2=$3" /proc/[0-9]*/environ 2>/dev/null)
  [ -n "$found" ] || break
  for file in $found; do pid=\${file#/proc/}; kill -9 "\${pid%/environ}" 2>/dev/null; done
done
`;

/** Starts the watcher over the leader of a process group. Its result makes it act now, and resolves when it has. */
export function guardProcess(pid: number, { name, value }: ProcessMark): () => Promise<void> {
  if (process.platform === "win32") return async () => {};
  const watcher = spawn("sh", ["-c", GUARD, "asyncagents-guard", String(pid), name, value], {
    stdio: ["pipe", "ignore", "ignore"],
    // Of a session of its own, or a Ctrl-C in the terminal would end it together with this process.
    detached: true,
  });
  watcher.unref();
  const done = new Promise<void>((resolve) => {
    watcher.once("exit", () => resolve());
    watcher.once("error", () => resolve());
  });
  return () => {
    watcher.ref();
    watcher.stdin.end();
    return done;
  };
}
