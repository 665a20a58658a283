/**
 * Backups of the SQLite store: complete, verified copies in a folder beside it, up to a fixed number. A copy gets its
 * name only when it is complete. Creating one takes as long as the store is large: run it in a separate process.
 */
import { Database as Sqlite } from "bun:sqlite";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { storeFailure } from "../sqlite/failure.ts";

const KEPT = 7;
/** After this time no process is still writing an unfinished backup. */
const LEFT_MS = 3_600_000;
const NAME = /^asyncagents-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ)\.db$/;

export interface Backup {
  name: string;
  file: string;
  /** In ms. */
  at: number;
  bytes: number;
}

export function storeFileOf(directory: string): string {
  return join(directory, "asyncagents.db");
}

/** Newest first. */
export function backupsIn(directory: string): Backup[] {
  const folder = folderOf(directory);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => {
      const time = NAME.exec(name)?.[1];
      const found = time === undefined ? undefined : statSync(join(folder, name), { throwIfNoEntry: false });
      return time === undefined || !found?.isFile()
        ? []
        : [{ name, file: join(folder, name), at: Date.parse(timeOf(time)), bytes: found.size }];
    })
    .sort((one, other) => other.at - one.at);
}

/** Creates a backup and removes the oldest ones beyond the limit. */
export function makeBackup(directory: string, now: number): Backup {
  const source = storeFileOf(directory);
  if (!existsSync(source)) throw new AsyncAgentsError("invalid_input", `There is no store in ${directory} yet.`);
  const folder = folderOf(directory);
  const name = `asyncagents-${new Date(now).toISOString().slice(0, 19).replaceAll(":", "-")}Z.db`;
  const part = join(folder, `${name}.part`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    removeLeftovers(folder, now);
    requireRoom(folder, source);
    rmSync(part, { force: true });
    copyInto(source, part);
    chmodSync(part, 0o600);
    requireSound(part, source);
    renameSync(part, join(folder, name));
  } catch (thrown) {
    throw storeFailure(thrown, source);
  } finally {
    rmSync(part, { force: true });
  }
  const backups = backupsIn(directory);
  for (const old of backups.slice(KEPT)) rmSync(old.file, { force: true });
  const made = backups.find((backup) => backup.name === name);
  if (!made) throw new AsyncAgentsError("internal", `The backup ${name} disappeared while it was made. Try again.`);
  return made;
}

/** Removes unfinished backups of killed processes. */
function removeLeftovers(folder: string, now: number): void {
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".part"))) {
    const made = statSync(join(folder, name), { throwIfNoEntry: false });
    if (made && made.mtimeMs < now - LEFT_MS) rmSync(join(folder, name), { force: true });
  }
}

function folderOf(directory: string): string {
  return join(directory, "backups");
}

function timeOf(name: string): string {
  return name.replace(/T(\d\d)-(\d\d)-(\d\d)Z/, "T$1:$2:$3Z");
}

function copyInto(source: string, target: string): void {
  const handle = new Sqlite(source, { readonly: true });
  try {
    handle.run("pragma busy_timeout = 10000");
    handle.query("vacuum into ?").run(target);
  } finally {
    handle.close();
  }
}

/** If the backup filled the disk, the tasks themselves would stop. */
function requireRoom(folder: string, source: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const needed = 2 * (statSync(source).size + (statSync(`${source}-wal`, { throwIfNoEntry: false })?.size ?? 0));
  if (bavail * bsize >= needed) return;
  throw Object.assign(new Error("no room for a backup"), { code: "ENOSPC" });
}

/** Throws if `file` is damaged; the error names `source`. */
export function requireSound(file: string, source: string): void {
  const handle = new Sqlite(file, { readonly: true });
  try {
    const row = handle.query<{ integrity_check: string }, []>("pragma integrity_check(1)").get();
    if (row?.integrity_check === "ok") return;
    throw new AsyncAgentsError("store_unavailable", `${source} is damaged: ${row?.integrity_check}.`);
  } finally {
    handle.close();
  }
}
