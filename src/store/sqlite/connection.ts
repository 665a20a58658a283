/**
 * One bun:sqlite connection, and the adapter that lets Kysely use it. Statements are prepared once and
 * cached. Runs on Bun 1.3.14 and newer. Knows nothing about transactions: `sqlite-database.ts` does.
 */
import { type SQLQueryBindings, Database as Sqlite, type Statement } from "bun:sqlite";
import { closeSync, openSync } from "node:fs";
import { Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import { storableText } from "../storable.ts";
import { codeOf } from "./failure.ts";
import { LiteralLimitDialect } from "./literal-limit-dialect.ts";

/** How long SQLite may block the thread for a lock, in ms; after that `retryWhileBusy` takes over. */
const BUSY_TIMEOUT = 100;
/** More than a process uses: about 250. */
const KEPT_STATEMENTS = 400;
/** In KiB: large enough for the indexes of 100,000 tasks, so that a search need not read the file for each result. */
const READ_CACHE = 16_384;

export interface SqliteConnection {
  readonly handle: Sqlite;
  readonly kysely: Kysely<Schema>;
  close(): void;
}

/**
 * Creates an empty file that only its owner can read. Leaves an existing one alone: closing it would drop its locks.
 */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (thrown) {
    if (codeOf(thrown) !== "EEXIST") throw thrown;
  }
}

/** Opens `file`; if it throws SQLite's error, nothing is left open. */
export function sqliteConnection(file: string, use: "read" | "write"): SqliteConnection {
  const handle = new Sqlite(file, { readwrite: true, create: true });
  try {
    handle.run(`pragma busy_timeout = ${BUSY_TIMEOUT}`);
    if (use === "write") handle.run("pragma journal_mode = wal");
    handle.run("pragma synchronous = normal");
    handle.run("pragma temp_store = memory");
    if (use === "read") {
      handle.run("pragma query_only = 1");
      handle.run(`pragma cache_size = -${READ_CACHE}`);
    }
  } catch (thrown) {
    handle.close();
    throw thrown;
  }
  const statements = new Map<string, Statement>();
  const close = () => {
    for (const statement of statements.values()) statement.finalize();
    statements.clear();
    handle.close();
  };
  const prepare = (sql: string) => adapted(prepared(handle, statements, sql));
  const kysely = new Kysely<Schema>({ dialect: new LiteralLimitDialect({ database: { prepare, close: () => {} } }) });
  return { handle, kysely, close };
}

function prepared(handle: Sqlite, statements: Map<string, Statement>, sql: string): Statement {
  const known = statements.get(sql);
  if (known !== undefined) return known;
  const statement = handle.prepare(sql);
  statements.set(sql, statement);
  if (statements.size > KEPT_STATEMENTS) {
    for (const [oldest, old] of statements) {
      statements.delete(oldest);
      old.finalize();
      break;
    }
  }
  return statement;
}

function adapted(statement: Statement) {
  return {
    reader: statement.columnNames.length > 0,
    all: (parameters: readonly unknown[]) => statement.all(...bound(parameters)) as unknown[],
    run: (parameters: readonly unknown[]) => statement.run(...bound(parameters)),
    iterate: (parameters: readonly unknown[]) => (statement.all(...bound(parameters)) as unknown[]).values(),
  };
}

function bound(parameters: readonly unknown[]): SQLQueryBindings[] {
  return parameters.map((value) => (typeof value === "string" ? storableText(value) : value)) as SQLQueryBindings[];
}
