/**
 * Owns the end of what a test leaves behind when it dies: `bun test` runs no exit handlers, and a killed test run none at all.
 * Invariant: a process that holds a lifeline, and its temporary folder, are gone soon after the test process is, however that ended.
 * It does nothing while the test process lives, and is no substitute for an orderly stop.
 */

/**
 * Starts a watcher whose standard input closes when this process ends; it then kills that one pid and removes the folder.
 * The returned function lets the watcher go: call it when the process has ended, so that its pid is never killed in its next life.
 */
export function attachLifeline(pid: number, folder: string): () => void {
  if (process.platform === "win32") return () => {};
  const watch = 'read -r _; kill -9 "$1" 2>/dev/null; rm -rf -- "$2"';
  const watcher = Bun.spawn(["sh", "-c", watch, "lifeline", String(pid), folder], {
    stdio: ["pipe", "ignore", "ignore"],
    // Of its own session, or a Ctrl-C in the terminal would end the watcher together with the test.
    detached: true,
  });
  watcher.unref();
  return () => watcher.kill("SIGKILL");
}
