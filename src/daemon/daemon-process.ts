/**
 * The daemon's process: acquires the lock, starts the daemon, and ends it on a signal. If another process holds the
 * lock, this one exits as soon as the other listens, or continues if the other dies first. What the daemon does is in
 * `daemon.ts`.
 */
import { readConfiguration } from "../configuration/configuration.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { openLog } from "../process/data-folder.ts";
import { pause, settlesWithin } from "../process/deadline.ts";
import { acquireDaemonLock, type DaemonLock } from "./daemon-lock.ts";
import { type DaemonRecord, findDaemon } from "./find-daemon.ts";

const LOCK_MS = 20_000;
const LOOK_MS = 50;
/** A host that does not stop must not keep the daemon from exiting. */
const STOP_MS = 15_000;

/** Resolves when the daemon has ended. Resolves with the record of the other daemon if one is running. */
export async function runDaemonProcess(
  directory: string,
  options: { onReady?(url: string): void } = {},
): Promise<DaemonRecord | null> {
  const lock = await lockOrOther(directory);
  if ("pid" in lock) return lock;
  const ending = endBySignal();
  const log = openLog(directory);
  try {
    const configuration = readConfiguration({ directory, environment: process.env });
    const { startDaemon } = await import("./daemon.ts");
    const daemon = await startDaemon({ directory, configuration, environment: process.env, log });
    log.info("the daemon listens", { url: daemon.url, pid: process.pid });
    options.onReady?.(daemon.url);
    const signal = await ending;
    log.info("the daemon ends", { signal });
    const stopped = daemon.stop();
    if (await settlesWithin(stopped, { timeout: STOP_MS })) await stopped;
    return null;
  } finally {
    await log.written();
    lock.release();
  }
}

/** A daemon that is shutting down holds the lock for a while after its record is gone. */
async function lockOrOther(directory: string): Promise<DaemonLock | DaemonRecord> {
  for (const deadline = performance.now() + LOCK_MS; performance.now() < deadline; await pause(LOOK_MS)) {
    const found = acquireDaemonLock(directory) ?? findDaemon(directory);
    if (found) return found;
  }
  const message =
    "Another daemon holds the lock of this data folder but does not listen. End that process, then try again.";
  throw new AsyncAgentsError("daemon_unavailable", message);
}

function endBySignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => resolve(signal));
  });
}
