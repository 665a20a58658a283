/**
 * The tables of a store as its database describes them, so that what walks over all of them cannot forget one. Without
 * the search, which fills itself from `tasks`, and without what PostgreSQL has for many writers, such as the tokens of
 * their writes.
 */
import { type Kysely, sql } from "kysely";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Schema } from "../schema.ts";

export interface TableShape {
  name: string;
  /** In alphabetical order. */
  columns: readonly string[];
  /** The columns of its primary key. */
  key: readonly string[];
  /** The column that the database numbers itself. */
  numbered: string | null;
}

interface ColumnRow {
  table: string;
  column: string;
  /** Its position in the primary key; null or 0 if it is not part of it. */
  key: number | null;
  numbered: boolean | number;
}

/** A copied event stands in the place of its number, and an agent's totals are added up before they are copied. */
const FOR_MANY_WRITERS: ReadonlySet<string> = new Set(["feed_end.place", "events.place", "agent_totals.slot"]);

/** `schema`: the schema on PostgreSQL; null on SQLite. */
export async function tableShapes(kysely: Kysely<Schema>, schema: string | null): Promise<TableShape[]> {
  const { rows } = await (schema === null ? sqliteColumns : postgresColumns(schema)).execute(kysely);
  const copied = rows.filter(({ table, column }) => !FOR_MANY_WRITERS.has(`${table}.${column}`));
  const tables = Map.groupBy(copied, ({ table }) => table);
  return [...tables]
    .map(([name, columns]) => shapeOf(name, columns))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

function shapeOf(name: string, columns: readonly ColumnRow[]): TableShape {
  const keys = columns
    .filter(({ key }) => key !== null && key > 0)
    .sort((one, other) => (one.key ?? 0) - (other.key ?? 0));
  if (keys.length === 0) throw new AsyncAgentsError("internal", `The table ${name} has no primary key.`);
  return {
    name,
    columns: columns.map(({ column }) => column).sort(),
    key: keys.map(({ column }) => column),
    numbered: columns.find(({ numbered }) => Boolean(numbered))?.column ?? null,
  };
}

const sqliteColumns = sql<ColumnRow>`
  select tables.name as "table", columns.name as "column", columns.pk as "key",
    columns.pk = 1 and tables.sql like '%autoincrement%' as numbered
  from sqlite_schema as tables join pragma_table_info(tables.name) as columns
  where tables.type = 'table' and tables.name not like 'sqlite\\_%' escape '\\'
    and tables.name not like 'task\\_search%' escape '\\'`;

function postgresColumns(schema: string) {
  return sql<ColumnRow>`
    select tables.relname as "table", columns.attname as "column", columns.attidentity <> '' as numbered,
      array_position(keys.indkey::int2[], columns.attnum) + 1 as "key"
    from pg_class as tables
      join pg_namespace as schemas on schemas.oid = tables.relnamespace
      join pg_attribute as columns on columns.attrelid = tables.oid and columns.attnum > 0 and not columns.attisdropped
      left join pg_index as keys on keys.indrelid = tables.oid and keys.indisprimary
    where schemas.nspname = ${schema} and tables.relkind = 'r'
      and tables.relname not in ('task_search', 'write_tokens')`;
}
