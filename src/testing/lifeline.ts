/**
 * Cleans up when a test process dies: `bun test` runs no exit handlers, and a killed test run cannot. Invariant: a
 * process with a lifeline, and its temporary folder, are gone soon after the test process is, however that ended. Does
 * nothing while the test process lives, and does not replace an orderly stop.
 */

/**
 * Starts a watcher whose standard input closes when this process exits; it then kills that pid and removes the folder.
 * The returned function releases the watcher: call it when the process has exited, so that a reused pid is never
 * killed.
 */
export function attachLifeline(pid: number, folder: string): () => void {
  if (process.platform === "win32") return () => {};
  const watch = 'read -r _; kill -9 "$1" 2>/dev/null; rm -rf -- "$2"';
  const watcher = Bun.spawn(["sh", "-c", watch, "lifeline", String(pid), folder], {
    stdio: ["pipe", "ignore", "ignore"],
    // In its own session, because Ctrl-C in the terminal would otherwise end the watcher together with the test.
    detached: true,
  });
  watcher.unref();
  return () => watcher.kill("SIGKILL");
}
