/**
 * Instances: processes that have registered and not yet ended, with their heartbeats and leases. A lease is given and
 * judged by the database's clock alone. Does not judge whether a process is still alive: that takes a view of the
 * machine's processes.
 */
import { type Kysely, type RawBuilder, sql } from "kysely";
import { preparedQuery } from "./compiled-query.ts";
import { databaseTime } from "./database-time.ts";
import type { RowOf, Schema } from "./schema.ts";
import { dialectOf } from "./sql/dialect.ts";
import { lock } from "./sql/lock.ts";
import { together } from "./sql/together.ts";
import type { Instance } from "./store.ts";

const COLUMNS = [
  "id",
  "pid",
  "process_start",
  "boot_id",
  "pid_namespace",
  "beat",
  "host",
  "directory",
  "started_at",
  "machine",
] as const;

type InstanceRow = Pick<RowOf<"instances">, (typeof COLUMNS)[number]> & { lease_left: number | null };

/** Waits for those who take over what it had: it knows what is still its own once it is registered. */
export async function putInstance(
  kysely: Kysely<Schema>,
  at: number,
  instance: Instance,
  leaseMs: number | null,
): Promise<void> {
  const { id, ...rest } = instanceRow(instance);
  const values = { ...rest, lease_until: leaseEnd(kysely, at, leaseMs) };
  await together([
    lock(kysely, "instance", id),
    kysely
      .insertInto("instances")
      .values({ id, ...values })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(values))
      .execute(),
  ]);
}

/** False if there is no such instance, or its lease is over. */
export async function moveBeat(
  kysely: Kysely<Schema>,
  at: number,
  id: string,
  leaseMs: number | null,
): Promise<boolean> {
  return (await updateBeat(kysely, { id, at, leaseMs })).length > 0;
}

const updateBeat = preparedQuery<{ id: string; at: number; leaseMs: number | null }, { id: string }>(
  (kysely, { id, at, leaseMs }) =>
    kysely
      .updateTable("instances")
      .set((row) => ({ beat: row("beat", "+", 1), lease_until: leaseEnd(kysely, at, leaseMs) }))
      .where("id", "=", id)
      .where((row) => row.or([row("lease_until", "is", null), row("lease_until", ">", timeOf(kysely, at))]))
      .returning("id"),
);

export async function removeInstance(kysely: Kysely<Schema>, id: string): Promise<void> {
  await kysely.deleteFrom("instances").where("id", "=", id).execute();
}

/** Removes it in the statement that finds its lease over. False if it is registered and its lease is not over. */
export async function expireInstance(kysely: Kysely<Schema>, at: number, id: string): Promise<boolean> {
  await kysely.deleteFrom("instances").where("id", "=", id).where("lease_until", "<=", timeOf(kysely, at)).execute();
  return !(await isRegistered(kysely, id));
}

/** For a write that takes over from it: it does not register again before that write is over. */
export async function lockUnregistered(kysely: Kysely<Schema>, id: string): Promise<boolean> {
  const [, isKnown] = await together([lock(kysely, "instance", id), isRegistered(kysely, id)]);
  return !isKnown;
}

async function isRegistered(kysely: Kysely<Schema>, id: string): Promise<boolean> {
  return (await selectId(kysely, { id })).length > 0;
}

const selectId = preparedQuery<{ id: string }, { id: string }>((kysely, { id }) =>
  kysely.selectFrom("instances").select("id").where("id", "=", id),
);

export async function readInstances(kysely: Kysely<Schema>, at: number): Promise<Instance[]> {
  return (await selectInstances(kysely, { at })).map(instanceOf);
}

const selectInstances = preparedQuery<{ at: number }, InstanceRow>((kysely, { at }) =>
  kysely
    .selectFrom("instances")
    .select(COLUMNS)
    .select(sql<number | null>`lease_until - ${timeOf(kysely, at)}`.as("lease_left"))
    .orderBy("started_at")
    .orderBy("id"),
);

function timeOf(kysely: Kysely<Schema>, at: number): RawBuilder<number> {
  return databaseTime(dialectOf(kysely), at);
}

/** Null if it has no lease. */
function leaseEnd(kysely: Kysely<Schema>, at: number, leaseMs: number | null): RawBuilder<number> {
  return sql<number>`${timeOf(kysely, at)} + ${leaseMs}`;
}

function instanceRow(instance: Instance): Omit<RowOf<"instances">, "lease_until"> {
  return {
    id: instance.id,
    pid: instance.pid,
    process_start: instance.processStart,
    boot_id: instance.bootId,
    pid_namespace: instance.pidNamespace,
    beat: instance.beat,
    host: instance.host,
    directory: instance.directory,
    started_at: instance.startedAt,
    machine: instance.machine,
  };
}

function instanceOf(row: InstanceRow): Instance {
  return {
    id: row.id,
    pid: row.pid,
    processStart: row.process_start,
    bootId: row.boot_id,
    pidNamespace: row.pid_namespace,
    beat: row.beat,
    host: row.host,
    directory: row.directory,
    startedAt: row.started_at,
    machine: row.machine,
    leaseLeft: row.lease_left,
  };
}
