/**
 * Where this machine keeps its data, and the log in it: the same for every process, or they would not see each other's tasks.
 * Opens no store.
 */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type FileLog, fileLog } from "./log-file.ts";

/** `ASYNCAGENTS_HOME`, else the folder that the plugin has always used. */
export function storageDirectory(): string {
  return process.env.ASYNCAGENTS_HOME || join(homedir(), ".opencode", "plugins", "background-agent");
}

/** The base folder of all worktrees: `ASYNCAGENTS_WORKTREES`, else a folder in the data folder. */
export function worktreesDirectory(): string {
  return process.env.ASYNCAGENTS_WORKTREES || join(storageDirectory(), "worktrees");
}

export function openLog(directory: string): FileLog {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch {
    // The store says so, with what to do; the log has nowhere to say it.
  }
  return fileLog(join(directory, "asyncagents.log"));
}
