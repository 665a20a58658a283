/**
 * Writes tasks.json from the store, oldest task first: page by page into a temporary file, fsync, rename. Whatever
 * happens, the file is either the old or the new one, complete. The caller holds the `mirroring` lock, so the temporary
 * file has one writer; leftovers of a killed writer are overwritten.
 */
import { type FileHandle, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { type Kysely, sql } from "kysely";
import type { Database } from "../database.ts";
import type { Schema } from "../schema.ts";
import { HEAD_COLUMNS, taskHeadOf, withNewestRun } from "../tasks/rows.ts";
import { entryOf, type MirroredTask } from "./entries.ts";

/** The file holds the newest tasks; older ones are only in the store. */
const MIRRORED_TASKS = 5_000;
/** Small enough not to block the thread for long. */
const PAGE = 200;

type Position = Pick<Schema["tasks"], "started_at" | "created_seq">;

export async function writeTasksJson(database: Database, file: string): Promise<void> {
  const temporary = `${file}.tmp`;
  const handle = await open(temporary, "w", 0o600);
  try {
    await writeEntries(database, handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncFolder(dirname(file));
}

async function writeEntries(database: Database, handle: FileHandle): Promise<void> {
  let after: Position | null = await database.read(beforeFirst);
  let separator = "\n";
  await handle.write("{");
  for (;;) {
    const from: Position | null = after;
    const rows: Row[] = await database.read((kysely) => page(kysely, from));
    // What waits for a runner has no session yet.
    const begun = rows.filter(({ session_id }) => session_id !== "");
    const lines = begun.map((row) => `  ${JSON.stringify(row.session_id)}: ${JSON.stringify(entryOf(taskOf(row)))}`);
    if (lines.length > 0) await handle.write(`${separator}${lines.join(",\n")}`);
    separator = ",\n";
    after = rows.at(-1) ?? null;
    if (rows.length < PAGE) break;
  }
  await handle.write("\n}\n");
}

/** The newest task that is too old for the file; null if all fit. */
async function beforeFirst(kysely: Kysely<Schema>): Promise<Position | null> {
  const row = await kysely
    .selectFrom("tasks")
    .select(["started_at", "created_seq"])
    .orderBy("started_at", "desc")
    .orderBy("created_seq", "desc")
    .limit(1)
    .offset(MIRRORED_TASKS)
    .executeTakeFirst();
  return row ?? null;
}

type Row = Awaited<ReturnType<typeof page>>[number];

function page(kysely: Kysely<Schema>, after: Position | null) {
  const rows = withNewestRun(kysely.selectFrom("tasks"))
    .select(HEAD_COLUMNS)
    .select(["tasks.run", "tasks.created_seq", "runs.error"])
    .orderBy("tasks.started_at")
    .orderBy("tasks.created_seq")
    .limit(PAGE);
  if (after === null) return rows.execute();
  const later = sql<boolean>`(tasks.started_at, tasks.created_seq) > (${after.started_at}, ${after.created_seq})`;
  return rows.where(later).execute();
}

function taskOf(row: Row): MirroredTask {
  return { ...taskHeadOf(row), run: { number: row.run, error: row.error } };
}

/** Makes the rename durable. Some file systems cannot; the file is complete all the same. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
