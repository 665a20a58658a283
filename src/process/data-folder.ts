/**
 * Where the data and the log are kept. The same folder for every process of a user: otherwise they would not see each
 * other's tasks. Opens no store.
 */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type FileLog, fileLog } from "./file-log.ts";

/** `ASYNCAGENTS_HOME`, or the folder that the plugin has always used. */
export function storageDirectory(): string {
  return process.env.ASYNCAGENTS_HOME || join(homedir(), ".opencode", "plugins", "background-agent");
}

export function openLog(directory: string): FileLog {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch {
    // Opening the store reports it, with advice. The log has nowhere to report it to.
  }
  return fileLog(join(directory, "asyncagents.log"));
}
