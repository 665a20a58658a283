/**
 * Creates a new SQLite file from what is still readable in a damaged one, and adds lost records from a backup. Pending
 * work (notices, queued prompts) is not taken from a backup: it may have been done since. The damaged file is read from
 * a copy and stays unchanged.
 */
import { type SQLQueryBindings, Database as Sqlite } from "bun:sqlite";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { makePrivateFile } from "../sqlite/connection.ts";

/** Tables that may be completed from a backup. */
const RECORDS = new Set([
  "tasks",
  "runs",
  "events",
  "projects",
  "repos",
  "work_items",
  "attempts",
  "attempt_repos",
  "board_sessions",
]);
/** The key in `meta` of a store that was rebuilt and not opened since. */
export const REBUILT = "rebuilt";
/** The search fills its own tables as tasks are written. */
const SEARCH = "task_search";
/** How many positions to probe in an unreadable range. */
const PROBES = 64;

export interface Rebuilt {
  /** Rows by table. */
  rows: Record<string, number>;
  /** Whether every row of the damaged file could be read. */
  complete: boolean;
}

interface SchemaEntry {
  type: string;
  name: string;
  sql: string;
}

type Row = Record<string, SQLQueryBindings> & { recovered_rowid: number };

/** Null, with nothing left behind, if neither file shows its tables. */
export function rebuild(damaged: string, backup: string | null, target: string): Rebuilt | null {
  const copy = `${target}.source`;
  // Remove leftovers of a killed process: an old log must never be applied to the new file.
  for (const file of [copy, target]) removeFiles(file);
  for (const part of ["", "-wal"]) if (existsSync(damaged + part)) copyFileSync(damaged + part, copy + part);
  try {
    const sources = [copy, backup].filter((file) => file !== null).map(openSource);
    try {
      return writeRebuilt(sources, target);
    } finally {
      for (const source of sources) source?.close();
    }
  } finally {
    removeFiles(copy);
  }
}

function removeFiles(file: string): void {
  for (const part of ["", "-wal", "-shm", "-journal"]) rmSync(file + part, { force: true });
}

function openSource(file: string): Sqlite | null {
  try {
    return new Sqlite(file, { readwrite: true });
  } catch {
    return null;
  }
}

function writeRebuilt([damaged = null, backup = null]: (Sqlite | null)[], target: string): Rebuilt | null {
  const schema = readSchema(damaged) ?? readSchema(backup);
  if (schema === null) return null;
  makePrivateFile(target);
  const made = new Sqlite(target, { readwrite: true });
  try {
    made.run("begin immediate");
    const create = (types: readonly string[]) => {
      for (const { type, sql } of schema) if (types.includes(type)) made.run(sql);
    };
    create(["table", "trigger"]);
    let complete = damaged !== null;
    for (const { name } of schema.filter(({ type, name }) => type === "table" && name !== SEARCH)) {
      if (damaged !== null) complete = copyRows(damaged, made, name) && complete;
      if (backup !== null && (RECORDS.has(name) || name === "meta")) copyRows(backup, made, name);
    }
    create(["index"]);
    // A task without its newest run cannot be read; tasks.json may still have it.
    made.run("delete from tasks where not exists (select 1 from runs where task_id = tasks.id and number = tasks.run)");
    made.query("insert or replace into meta (key, value) values (?, 'pending')").run(REBUILT);
    made.run("commit");
    return { rows: countRows(made, schema), complete };
  } finally {
    made.close();
  }
}

/** Lists tables before their triggers, without the internal tables of the search. */
function readSchema(source: Sqlite | null): SchemaEntry[] | null {
  const query =
    "select type, name, sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by rowid";
  try {
    const found = source?.query<SchemaEntry, []>(query).all() ?? [];
    const own = found.filter(({ name }) => !name.startsWith(`${SEARCH}_`));
    return own.some(({ name }) => name === "tasks") ? own : null;
  } catch {
    return null;
  }
}

/** Copies all readable rows that are missing; returns whether all rows could be read. */
function copyRows(source: Sqlite, made: Sqlite, table: string): boolean {
  const insert = inserter(made, table);
  const all = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER };
  const upwards = copyRange(source, table, all, "asc", insert);
  if (upwards === null) return true;
  const hole = { from: upwards, to: all.to };
  const downwards = copyRange(source, table, hole, "desc", insert);
  if (downwards === null) return false;
  const step = Math.max(1, Math.floor((downwards - upwards) / PROBES));
  for (let from = upwards + step; from < downwards; from += step) {
    copyRange(source, table, { from, to: downwards }, "asc", insert);
  }
  return false;
}

/** Null if it reached the end; otherwise the last row before the damage. */
function copyRange(
  source: Sqlite,
  table: string,
  { from, to }: { from: number; to: number },
  order: "asc" | "desc",
  insert: (row: Row) => void,
): number | null {
  let last = order === "asc" ? from : to;
  try {
    // Avoids indexes: one may be damaged where the table is not.
    const rows = source.query<Row, [number, number]>(
      `select rowid as recovered_rowid, * from "${table}" not indexed where rowid > ? and rowid < ? order by rowid ${order}`,
    );
    for (const row of rows.iterate(from, to)) {
      last = row.recovered_rowid;
      insert(row);
    }
    return null;
  } catch {
    return last;
  }
}

function inserter(made: Sqlite, table: string): (row: Row) => void {
  const columns = made.query<{ name: string }, []>(`pragma table_info("${table}")`).all();
  const names = columns.map(({ name }) => `"${name}"`).join(", ");
  const places = columns.map(() => "?").join(", ");
  const statement = made.prepare(`insert or ignore into "${table}" (${names}) values (${places})`);
  return (row) => {
    try {
      statement.run(...columns.map(({ name }) => row[name] ?? null));
    } catch {
      // A row that violates a constraint was itself damaged.
    }
  };
}

function countRows(made: Sqlite, schema: readonly SchemaEntry[]): Record<string, number> {
  const tables = schema.filter(({ type, name }) => type === "table" && RECORDS.has(name));
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      made.query<{ count: number }, []>(`select count(*) as count from "${name}"`).get()?.count ?? 0,
    ]),
  );
}
