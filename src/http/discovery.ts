/**
 * How clients find a server: `servers/<pid>.json` for each process, and `server.json` for the newest running one, in
 * the data folder. Only their owner can read them, since they contain the token. A process that exits removes its own
 * file and points `server.json` to another server. Everything is synchronous, because it must also work while the
 * process exits.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { isAlive, isElsewhere, ownIdentity, type ProcessIdentity } from "../process/liveness.ts";

const recordSchema = z.object({
  port: z.number().int(),
  pid: z.number().int(),
  startedAt: z.iso.datetime(),
  url: z.string(),
  token: z.string(),
  version: z.string(),
  processStart: z.string(),
  bootId: z.string(),
  /** Absent in records of earlier versions. */
  pidNamespace: z.string().default(""),
  /** The daemon has the board and starts hosts itself. A plugin's server can act only through its own OpenCode. */
  kind: z.enum(["plugin", "daemon"]).default("plugin"),
  /** The PostgreSQL database that holds its tasks, without the password; null: SQLite in the data folder. */
  postgres: z.string().nullable().default(null),
  /** The address of its door to other machines; null if there is none. */
  listen: z.string().nullable().default(null),
  /** The module that a daemon reports with, and why nothing is reported; null if that is off. */
  telemetry: z.object({ module: z.string(), problem: z.string().nullable() }).nullable().default(null),
});

export type ServerRecord = z.infer<typeof recordSchema>;

const FOLDER = "servers";
const MAIN = "server.json";

/** Writes this process's files, and returns the function that removes them; calling it twice is safe. */
export function announce(directory: string, server: Omit<ServerRecord, keyof ProcessIdentity>): { withdraw(): void } {
  const record: ServerRecord = { ...server, ...ownIdentity() };
  mkdirSync(join(directory, FOLDER), { recursive: true, mode: 0o700 });
  sweep(directory);
  write(ownFile(directory, record), record);
  write(join(directory, MAIN), record);
  return { withdraw: () => withdraw(directory, record) };
}

/** The servers whose processes are alive, newest first. */
export function livingServers(directory: string): ServerRecord[] {
  return recordFiles(directory)
    .flatMap((file) => read(file) ?? [])
    .filter((record) => isAlive(record))
    .sort((one, other) => other.startedAt.localeCompare(one.startedAt));
}

/** Whether a daemon of this machine ended without removing its file: it was killed, or it crashed. */
export function hasDeadDaemon(directory: string): boolean {
  const records = recordFiles(directory).flatMap((file) => read(file) ?? []);
  return records.some((record) => record.kind === "daemon" && !isAlive(record) && !isElsewhere(record));
}

function withdraw(directory: string, record: ServerRecord): void {
  rmSync(ownFile(directory, record), { force: true });
  const main = join(directory, MAIN);
  // Another process may exit at the same time: check afterwards that the chosen one is still there.
  while (read(main)?.pid === record.pid) {
    const next = livingServers(directory).find(({ pid }) => pid !== record.pid);
    if (!next) {
      rmSync(main, { force: true });
      return;
    }
    write(main, next);
    if (read(ownFile(directory, next)) === null) write(main, record);
  }
}

/** Removes the files of dead processes. A process in another container may be alive, so its file stays. */
function sweep(directory: string): void {
  for (const file of recordFiles(directory)) {
    const record = read(file);
    if (record === null || !(isAlive(record) || isElsewhere(record))) rmSync(file, { force: true });
  }
}

function recordFiles(directory: string): string[] {
  try {
    return readdirSync(join(directory, FOLDER), { withFileTypes: true })
      .filter((entry) => entry.isFile() && /^\d+\.json$/.test(entry.name))
      .map(({ name }) => join(directory, FOLDER, name));
  } catch {
    return [];
  }
}

function ownFile(directory: string, { pid }: ServerRecord): string {
  return join(directory, FOLDER, `${pid}.json`);
}

function read(file: string): ServerRecord | null {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return null;
  }
}

/** Atomic, and readable by the owner only. */
function write(file: string, record: ServerRecord): void {
  const temporary = `${file}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  renameSync(temporary, file);
}
