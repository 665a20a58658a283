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
  /** From `newTicket` of its line. */
  ticket: string;
}

export interface TakenRuns {
  taskIds: string[];
  /** They may still be on their way out of the line: to be waited for in the same transaction. */
  isRemoved: Promise<void>;
}

export interface Lines {
  /** Makes a line, outside of any transaction. Does nothing if there is one. */
  open(line: string): Promise<void>;
  /** What `remove` will need to find a run in that line: made before it is there, so that its row can go with it. */
  newTicket(line: string): string;
  add(kysely: Kysely<Schema>, line: string, runs: readonly LinePlace[]): Promise<void>;
  /** Removes the first runs of a line. Those that others are removing are left out. */
  take(kysely: Kysely<Schema>, line: string, count: number): Promise<TakenRuns>;
  remove(kysely: Kysely<Schema>, line: string, ticket: string): Promise<void>;
  close(): Promise<void>;
}
