/**
 * Instances: processes that have registered and not yet ended. Does not judge whether one is still alive: that takes a
 * view of the machine's processes.
 */
import type { Kysely } from "kysely";
import { preparedQuery } from "./compiled-query.ts";
import type { RowOf, Schema } from "./schema.ts";
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
] as const;

export async function putInstance(kysely: Kysely<Schema>, instance: Instance): Promise<void> {
  const { id, ...rest } = instanceRow(instance);
  await kysely
    .insertInto("instances")
    .values({ id, ...rest })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(rest))
    .execute();
}

/** False if there is no such instance. */
export async function moveBeat(kysely: Kysely<Schema>, id: string): Promise<boolean> {
  return (await updateBeat(kysely, { id })).length > 0;
}

const updateBeat = preparedQuery<{ id: string }, { id: string }>((kysely, { id }) =>
  kysely
    .updateTable("instances")
    .set((expression) => ({ beat: expression("beat", "+", 1) }))
    .where("id", "=", id)
    .returning("id"),
);

export async function removeInstance(kysely: Kysely<Schema>, id: string): Promise<void> {
  await kysely.deleteFrom("instances").where("id", "=", id).execute();
}

export async function readInstances(kysely: Kysely<Schema>): Promise<Instance[]> {
  return (await selectInstances(kysely, {})).map(instanceOf);
}

const selectInstances = preparedQuery<object, RowOf<"instances">>((kysely) =>
  kysely.selectFrom("instances").select(COLUMNS).orderBy("started_at").orderBy("id"),
);

function instanceRow(instance: Instance): RowOf<"instances"> {
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
  };
}

function instanceOf(row: RowOf<"instances">): Instance {
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
  };
}
