/**
 * Migration 17, for many tasks: an index of live ones that nobody owns, and on PostgreSQL the searched texts in a table
 * of their own, which follows `tasks` by triggers, with an index of their trigrams. Apart from `tasks`, because a row
 * there changes often and its text hardly ever. Without the extension pg_trgm there is no index: a search is then
 * slower, and finds the same. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

export async function indexesForMany(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  await kysely.schema
    .createIndex("tasks_ownerless")
    .on("tasks")
    .column("started_at")
    .where(sql<boolean>`live = 1 and owner is null and session_id <> ''`)
    .execute();
  if (dialect === "sqlite") return;
  await kysely.schema
    .createTable("task_search")
    .addColumn("rowid", "double precision", (column) => column.primaryKey())
    .addColumn("description", "text", (column) => column.notNull())
    .execute();
  await kysely
    .insertInto("task_search")
    .columns(["rowid", "description"])
    .expression((row) => row.selectFrom("tasks").select(["created_seq", "description_search"]))
    .execute();
  const schema = schemaOf(kysely);
  await followTasks(kysely, schema);
  await indexWords(kysely, schema);
}

/** Quoted. Kysely only adds it to what it builds itself. */
export function schemaOf(kysely: Kysely<Schema>): string {
  const { sql: text } = kysely.selectFrom("meta").select("key").compile();
  return /from (".+")\."meta"/.exec(text)?.[1] ?? "public";
}

async function followTasks(kysely: Kysely<Schema>, schema: string): Promise<void> {
  const search = `${schema}.task_search`;
  const run = (text: string) => sql.raw(text).execute(kysely);
  await run(`create function ${schema}.follow_task() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then
      insert into ${search} (rowid, description) values (new.created_seq, new.description_search);
    elsif tg_op = 'UPDATE' then
      update ${search} set description = new.description_search where rowid = new.created_seq;
    else
      delete from ${search} where rowid = old.created_seq;
    end if;
    return null;
  end $$`);
  const trigger = (name: string, event: string, condition = "") =>
    run(`create trigger ${name} after ${event} on ${schema}.tasks for each row ${condition}
      execute function ${schema}.follow_task()`);
  await trigger("tasks_search_added", "insert");
  await trigger("tasks_search_removed", "delete");
  const isChanged = "when (old.description_search is distinct from new.description_search)";
  await trigger("tasks_search_changed", "update of description_search", isChanged);
}

/** The extension may have been made by somebody else, or may be for others only. */
async function indexWords(kysely: Kysely<Schema>, schema: string): Promise<void> {
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
  const attempts = ["public", schema].map(
    (place) => `begin
      create extension if not exists pg_trgm with schema ${place};
    exception when others then null;
    end;`,
  );
  await sql
    .raw(`do $do$ declare place text; begin
      ${attempts.join("\n")}
      select quote_ident(nspname) into place from pg_extension join pg_namespace on pg_namespace.oid = extnamespace
        where extname = 'pg_trgm';
      if place is not null then
        execute ${quoted(`create index task_search_words on ${schema}.task_search using gin (description `)}
          || place || '.gin_trgm_ops)';
      end if;
    end $do$`)
    .execute(kysely);
}
