/**
 * Migration 6: the search also covers ids and errors. Since these can change, the index now follows changes. Never
 * edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function widerSearch(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const line = dialect === "postgres" ? sql`chr(10)` : sql`char(10)`;
  await kysely
    .updateTable("tasks")
    .set(({ selectFrom }) => {
      const error = selectFrom("runs")
        .select(sql<string>`lower(substr(runs.error, 1, 500))`.as("error"))
        .whereRef("runs.task_id", "=", "tasks.id")
        .whereRef("runs.number", "=", "tasks.run");
      const text = sql<string>`description_search || ${line} || lower(id) || ${line} || coalesce(${error}, '')`;
      return { description_search: text };
    })
    .execute();
  if (dialect !== "sqlite") return;
  await sql`insert into task_search (task_search) values ('delete-all')`.execute(kysely);
  await sql`insert into task_search (rowid, description)
    select created_seq, description_search from tasks order by created_seq`.execute(kysely);
  await sql`create trigger tasks_search_changed after update of description_search on tasks
    when old.description_search is not new.description_search begin
      insert into task_search (task_search, rowid, description)
      values ('delete', old.created_seq, old.description_search);
      insert into task_search (rowid, description) values (new.created_seq, new.description_search);
    end`.execute(kysely);
}
