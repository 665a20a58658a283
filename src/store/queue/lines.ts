/**
 * The driver seam of the queue: lines of waiting runs, in the order of priority and age. A driver only hands out ids:
 * each id to one transaction at a time. It knows nothing about needs, limits, claims or tasks, and what it says is
 * checked against the tables. `table-lines.ts` is the one for SQLite, `../postgres/pg-boss-lines.ts` the other.
 */
import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";

export interface LinePlace {
  taskId: string;
  priority: number;
}

export interface Lines {
  /** Makes a line, outside of any transaction. Does nothing if there is one. */
  open(line: string): Promise<void>;
  /** Puts runs into a line. Returns what `remove` needs to find each. */
  add(kysely: Kysely<Schema>, line: string, runs: readonly LinePlace[]): Promise<string[]>;
  /** Removes the first runs of a line and returns their tasks' ids. Those that others are removing are left out. */
  take(kysely: Kysely<Schema>, line: string, count: number): Promise<string[]>;
  remove(kysely: Kysely<Schema>, line: string, ticket: string): Promise<void>;
  close(): Promise<void>;
}
