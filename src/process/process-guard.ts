/**
 * Ends a program and everything that it started, even if this process dies first, in whatever way. A program may start
 * others in a session of their own, which a signal to its process group does not reach; therefore all of them carry a
 * mark in their environment. Those that have dropped it are found as descendants, while the program lives.
 * Invariant: after the watcher has acted, none of them is left (on Linux; elsewhere the process group; on Windows it
 * does nothing). What has left its session, its environment and its parent escapes.
 */
import { spawn } from "node:child_process";

interface ProcessMark {
  /** The name of an environment variable of the program. */
  name: string;
  value: string;
}

/**
 * Reads lines of a process and its parent, and prints all processes below `top`. The table is not read in one moment:
 * while processes end and their numbers are used again, it can contain a circle, so no walk is longer than this.
 */
export const DESCENDANTS = `
  { parent[$1] = $2 }
  END {
    for (pid in parent) {
      at = pid
      for (steps = 0; steps < 200 && at in parent && at != top; steps++) at = parent[at]
      if (at == top) print pid
    }
  }`;

/**
 * A process that starts another one and ends while the table is read is not seen, and neither is the other one. So
 * none is left only if several looks in a row find none.
 */
const LOOKS_IN_A_ROW = 3;
const MOST_LOOKS = 50;

// Standard input closes when the guard is told to act, or when this process has died. In both cases everything must
// end. Descendants are looked for first: they are nobody's when their parents are gone. Not /proc/PID/stat: a program
// could put lines of its own into that by its name.
const GUARD = `
read -r _
below=$(grep -H '^PPid:' /proc/[0-9]*/status 2>/dev/null | tr -cs '0-9\\n' ' ' | awk -v top="$1" '${DESCENDANTS}')
kill -9 -- "-$1" 2>/dev/null
for pid in $below; do kill -9 "$pid" 2>/dev/null; done
[ -d /proc/self ] || exit 0
looks=0
empty=0
while [ "$empty" -lt ${LOOKS_IN_A_ROW} ] && [ "$looks" -lt ${MOST_LOOKS} ]; do
  looks=$((looks + 1))
  found=$(grep -lzxF "$2=$3" /proc/[0-9]*/environ 2>/dev/null)
  if [ -n "$found" ]; then empty=0; else empty=$((empty + 1)); fi
  for file in $found; do pid=\${file#/proc/}; kill -9 "\${pid%/environ}" 2>/dev/null; done
  sleep 0.01
done
`;

/**
 * Starts a watcher for the leader of a process group. The function that it returns makes the watcher act now, and
 * resolves when it is done.
 */
export function guardProcess(pid: number, { name, value }: ProcessMark): () => Promise<void> {
  if (process.platform === "win32") return async () => {};
  const watcher = spawn("sh", ["-c", GUARD, "asyncagents-guard", String(pid), name, value], {
    stdio: ["pipe", "ignore", "ignore"],
    // In a session of its own: otherwise Ctrl-C in the terminal would end it together with this process.
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
