/** Whether the processes of a benchmark may open enough files for all their streams. */

/** File descriptors that a process needs besides its streams. */
const SPARE_FILES = 200;

/** Throws if they may not. The limit is the one that children will have: Bun raises its own as far as allowed. */
export function ensureOpenFiles(streams: number): void {
  const needed = streams + SPARE_FILES;
  if (process.platform === "win32") return;
  const limit = Bun.spawnSync(["sh", "-c", "ulimit -n"]).stdout.toString().trim();
  if (limit === "unlimited" || Number(limit) >= needed) return;
  throw new Error(
    `A process may open ${limit} files here, and ${needed} are needed: raise the limit (ulimit -n ${needed}).`,
  );
}
