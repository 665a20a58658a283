/**
 * A daily backup of the store while the daemon runs. Made in a process of its own, because copying a large store takes
 * seconds. A failed backup is logged and retried an hour later; nothing else depends on it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Log } from "../process/log.ts";
import { backupsIn } from "../store/sqlite-files/backups.ts";
import { ownProgram } from "./own-program.ts";

interface BackupTimes {
  /** The delay before the first check: a daemon that runs for seconds makes no backup. */
  firstMs: number;
  everyMs: number;
  /** The maximum age of the newest backup. */
  ageMs: number;
}

const TIMES: BackupTimes = { firstMs: 600_000, everyMs: 3_600_000, ageMs: 86_400_000 };

export class DailyBackup {
  readonly #directory: string;
  readonly #log: Log;
  readonly #times: BackupTimes;
  #timer: ReturnType<typeof setTimeout>;
  #child: ChildProcess | null = null;

  constructor(directory: string, log: Log, times = TIMES) {
    this.#directory = directory;
    this.#log = log;
    this.#times = times;
    this.#timer = this.#later(times.firstMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#child?.kill();
  }

  #later(ms: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    this.#timer = this.#later(this.#times.everyMs);
    const newest = backupsIn(this.#directory)[0]?.at ?? 0;
    if (this.#child !== null || Date.now() < newest + this.#times.ageMs) return;
    const child = spawn(process.execPath, ownProgram("store", "backup"), {
      // Bun reads settings from its working directory, so that must be a folder of the user.
      cwd: this.#directory,
      env: { ...process.env, ASYNCAGENTS_HOME: this.#directory },
      stdio: "ignore",
    });
    this.#child = child;
    child.once("error", () => undefined).once("close", (code) => this.#ended(code));
  }

  #ended(code: number | null): void {
    this.#child = null;
    if (code === 0) this.#log.info("a backup of the store was made");
    else this.#log.error("the backup of the store failed; the next is tried in an hour", { code });
  }
}
