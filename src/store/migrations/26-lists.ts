/**
 * Migration 26: lists by host and folder, and sorted by duration, cost and description. The three sorts have columns of
 * their own and indexes over ended tasks only, so that the progress of a live task does not touch them. Never edited
 * once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function sortedLists(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  await addColumns(kysely, dialect);
  await fillColumns(kysely, dialect);
  const index = (name: string, columns: string[]) => kysely.schema.createIndex(name).on("tasks").columns(columns);
  // What the other filters read comes last: an entry that does not pass them is skipped without its row.
  await index("tasks_by_host", ["host", "started_at", "created_seq", "status", "agent"]).execute();
  // PostgreSQL refuses rows whose index entry is longer than 2,704 bytes, and a path may have 4,096.
  const folder = dialect === "postgres" ? sql`left(directory, 300) collate "C"` : sql`directory`;
  await kysely.schema
    .createIndex("tasks_by_directory")
    .on("tasks")
    .expression(sql`${folder}, started_at, created_seq, status, agent`)
    .execute();
  for (const column of ["took", "cost", "sort_name"]) {
    await index(`tasks_by_${column}`, [column, "created_seq", "started_at", "status", "agent", "host"])
      .where(sql.ref("live"), "=", sql.lit(0))
      .execute();
  }
}

async function addColumns(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const [id, number, fraction] =
    dialect === "postgres"
      ? ([sql`text collate "C"`, "double precision", "double precision"] as const)
      : (["text", "integer", "real"] as const);
  const tasks = () => kysely.schema.alterTable("tasks");
  await tasks()
    .addColumn("sort_name", id, (column) => column.notNull().defaultTo(""))
    .execute();
  await tasks()
    .addColumn("took", number, (column) => column.notNull().defaultTo(0))
    .execute();
  await tasks()
    .addColumn("cost", fraction, (column) => column.notNull().defaultTo(0))
    .execute();
}

async function fillColumns(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const cost =
    dialect === "postgres"
      ? sql<number>`(progress::json ->> 'cost')::double precision`
      : sql<number>`json_extract(progress, '$.cost')`;
  const least = sql.raw(dialect === "postgres" ? "least" : "min");
  await kysely
    .updateTable("tasks")
    // The searched text begins with the description, in lower case.
    .set({ sort_name: sql<string>`substr(description_search, 1, ${least}(60, length(description)))` })
    .execute();
  await kysely
    .updateTable("tasks")
    .set(({ selectFrom }) => {
      const took = selectFrom("runs")
        .select(sql<number>`runs.ended_at - runs.started_at`.as("took"))
        .whereRef("runs.task_id", "=", "tasks.id")
        .whereRef("runs.number", "=", "tasks.run")
        .where("runs.ended_at", ">", sql.ref<number>("runs.started_at"));
      return { took: sql<number>`coalesce(${took}, 0)`, cost: sql<number>`coalesce(${cost}, 0)` };
    })
    .where("live", "=", 0)
    .execute();
}
