/**
 * Locks by name, held until the end of a write transaction. What a write decides on, it reads in a statement after its
 * lock: that one sees what the previous holder wrote. SQLite needs none, because a write has the whole database there.
 * Who needs several takes them in the order of `LockedNoun`; a deadlock is retried all the same.
 */
import { type Kysely, type RawBuilder, sql } from "kysely";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";
import { dialectOf } from "./dialect.ts";

/**
 * `after`: who changes what tasks wait for. `queue`: all claims within limits. `task`: with its runs and events; one
 * that waits for others is locked after those. `work_item`: with its attempts. `parent`: its batches and notices.
 * `instance`: whether it is registered. `budgets`: which budgets there are. `channel`: its notifications. `token`: who
 * gets a name.
 */
type LockedNoun =
  | "after"
  | "queue"
  | "project"
  | "repo"
  | "task"
  | "work_item"
  | "parent"
  | "instance"
  | "budgets"
  | "channel"
  | "token";

export async function lock(kysely: Kysely<Schema>, noun: LockedNoun, id: string): Promise<void> {
  if (dialectOf(kysely) === "postgres") await takeLock(kysely, { name: nameOf(noun, id) });
}

/** For those that may go beside each other, but not beside one that has the lock for itself. */
export async function lockShared(kysely: Kysely<Schema>, noun: LockedNoun, id: string): Promise<void> {
  if (dialectOf(kysely) === "postgres") await takeShared(kysely, { name: nameOf(noun, id) });
}

const takeShared = preparedQuery<{ name: string }>((kysely, { name }) =>
  kysely.selectNoFrom(sql`pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))`.as("locked")),
);

/** False if somebody has the lock for itself now. PostgreSQL only. */
export async function tryLockShared(kysely: Kysely<Schema>, noun: LockedNoun, id: string): Promise<boolean> {
  const [row] = await takeFreeShared(kysely, { name: nameOf(noun, id) });
  return row?.locked === true;
}

const takeFreeShared = preparedQuery<{ name: string }, { locked: boolean }>((kysely, { name }) =>
  kysely.selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock_shared(hashtextextended(${name}, 0))`.as("locked")),
);

/** Several of one kind, in an order that is the same for everybody. */
export async function lockAll(kysely: Kysely<Schema>, noun: LockedNoun, ids: readonly string[]): Promise<void> {
  if (dialectOf(kysely) !== "postgres" || ids.length === 0) return;
  await takeLocks(kysely, { names: ids.toSorted().map((id) => nameOf(noun, id)) });
}

/** In the order of the names. */
const takeLocks = preparedQuery<{ names: readonly string[] }>((kysely, { names }) =>
  kysely
    .selectFrom(sql<{ name: string }>`unnest(${names}::text[])`.as<"given">(sql`given(name)`))
    .select(advisoryLock(sql.ref("given.name")).as("locked")),
);

/** Locks those that nobody else holds now, and returns them. PostgreSQL only. */
export async function tryLock(kysely: Kysely<Schema>, noun: LockedNoun, ids: readonly string[]): Promise<string[]> {
  const rows = await takeFreeLocks(kysely, { prefix: nameOf(noun, ""), ids });
  return rows.map(({ id }) => id);
}

const takeFreeLocks = preparedQuery<{ prefix: string; ids: readonly string[] }, { id: string }>(
  (kysely, { prefix, ids }) =>
    kysely
      .selectFrom(sql<{ id: string }>`unnest(${ids}::text[])`.as<"given">(sql`given(id)`))
      .select("given.id")
      .where(sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${prefix} || given.id, 0))`),
);

const takeLock = preparedQuery<{ name: string }>((kysely, { name }) =>
  kysely.selectNoFrom(advisoryLock(sql`${name}`).as("locked")),
);

/** The expression that takes the lock, for a query that finds the id itself. */
export function lockOf(noun: LockedNoun, id: RawBuilder<unknown>): RawBuilder<unknown> {
  return advisoryLock(sql`${sql.lit(nameOf(noun, ""))} || ${id}`);
}

/** The expression that takes the lock if it is free, for a query that finds the id itself. PostgreSQL only. */
export function tryLockOf(noun: LockedNoun, id: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${sql.lit(nameOf(noun, ""))} || ${id}, 0))`;
}

function nameOf(noun: LockedNoun, id: string): string {
  return `${noun}:${id}`;
}

function advisoryLock(name: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}
