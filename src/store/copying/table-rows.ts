/**
 * Reads, writes, empties and digests one table of any shape, page by page, on either database. Knows nothing about what
 * the tables mean, except which facts in `meta` belong to a store itself and are never copied.
 */
import { createHash } from "node:crypto";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Database } from "../database.ts";
import { OWN_FACTS } from "../meta.ts";
import type { Schema } from "../schema.ts";
import type { TableShape } from "./table-shapes.ts";

/** One of the two stores of a copy. */
export interface CopyEnd extends Pick<Database, "read"> {
  /** The schema on PostgreSQL; null on SQLite. */
  schema: string | null;
}

export type TableRow = Record<string, unknown>;

export interface TableDigest {
  rows: number;
  /** Does not depend on the order of the rows. */
  checksum: string;
  /** The last number that the database gave; null if it does not number this table. */
  lastNumber: number | null;
}

const PAGE = 200;
const TWO_TO_128 = 1n << 128n;

/** The rows in the order of the key. */
export async function* pagesOf(end: CopyEnd, table: TableShape): AsyncGenerator<TableRow[]> {
  for (let after: TableRow | null = null; ; ) {
    const from: TableRow | null = after;
    const rows: TableRow[] = await end.read(async (kysely) => {
      const { key } = table;
      let page = select(kysely, table)
        .select(table.columns as string[])
        .limit(PAGE);
      for (const column of key) page = page.orderBy(column);
      if (from !== null) {
        const values = sql.join(key.map((column) => sql`${from[column]}`));
        page = page.where(sql<boolean>`(${sql.join(key.map((column) => sql.ref(column)))}) > (${values})`);
      }
      return page.execute();
    });
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1) ?? null;
  }
}

export async function isEmpty(kysely: Kysely<Schema>, table: TableShape): Promise<boolean> {
  const [row] = await select(kysely, table)
    .select(table.key as string[])
    .limit(1)
    .execute();
  return row === undefined;
}

export async function insertRows(
  kysely: Kysely<Schema>,
  schema: string | null,
  { name, columns, numbered }: TableShape,
  rows: readonly TableRow[],
): Promise<void> {
  const names = sql.join(columns.map((column) => sql.id(column)));
  const values = sql.join(rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`));
  // PostgreSQL gives such numbers itself, unless it is told not to.
  const overriding = schema !== null && numbered !== null ? sql`overriding system value` : sql``;
  await sql`insert into ${idOf(schema, name)} (${names}) ${overriding} values ${values}`.execute(kysely);
}

/** Removes some rows; false if there were none. */
export async function removeRows(kysely: Kysely<Schema>, schema: string | null, table: TableShape): Promise<boolean> {
  const keys = sql.join(table.key.map((column) => sql.id(column)));
  const some = select(kysely, table)
    .select(table.key as string[])
    .limit(PAGE);
  const { numAffectedRows } = await sql`delete from ${idOf(schema, table.name)} where (${keys}) in ${some}`.execute(
    kysely,
  );
  return Number(numAffectedRows ?? 0) > 0;
}

/** Reads the whole table. `onPage` is called with the number of rows so far. */
export async function digestOf(end: CopyEnd, table: TableShape, onPage: (rows: number) => void): Promise<TableDigest> {
  let rows = 0;
  let sum = 0n;
  for await (const page of pagesOf(end, table)) {
    rows += page.length;
    onPage(rows);
    for (const row of page) sum += hashOf(table.columns.map((column) => row[column]));
  }
  const checksum = (sum % TWO_TO_128).toString(16).padStart(32, "0");
  return { rows, checksum, lastNumber: await readLastNumber(end, table) };
}

/** The databases return some numbers as text. */
function hashOf(values: readonly unknown[]): bigint {
  const parts = values.map((value) => {
    if (value instanceof Uint8Array) return [Buffer.from(value).toString("base64")];
    return value === null ? null : String(value);
  });
  const bytes = createHash("sha256").update(JSON.stringify(parts)).digest();
  return (bytes.readBigUInt64BE(0) << 64n) | bytes.readBigUInt64BE(8);
}

export async function readLastNumber(
  { read, schema }: CopyEnd,
  { name, numbered }: TableShape,
): Promise<number | null> {
  if (numbered === null) return null;
  return read(async (kysely) => {
    const query =
      schema === null
        ? sql<{ last: number | string }>`select seq as last from sqlite_sequence where name = ${name}`
        : sql<{ last: number | string }>`
            select pg_sequence_last_value(pg_get_serial_sequence(${quoted(schema, name)}, ${numbered})::regclass) as last`;
    const { rows } = await query.execute(kysely);
    return Number(rows[0]?.last ?? 0);
  });
}

/** The next number that the database gives is the one after this. */
export async function setLastNumber(
  kysely: Kysely<Schema>,
  schema: string | null,
  { name, numbered }: TableShape,
  last: number,
): Promise<void> {
  if (numbered === null) return;
  if (schema === null) {
    await sql`delete from sqlite_sequence where name = ${name}`.execute(kysely);
    if (last > 0) await sql`insert into sqlite_sequence (name, seq) values (${name}, ${last})`.execute(kysely);
    return;
  }
  const place = sql`pg_get_serial_sequence(${quoted(schema, name)}, ${numbered})`;
  await sql`select setval(${place}, ${Math.max(last, 1)}, ${last > 0})`.execute(kysely);
}

function quoted(schema: string, name: string): string {
  return [schema, name].map((part) => `"${part.replaceAll('"', '""')}"`).join(".");
}

function idOf(schema: string | null, name: string): RawBuilder<unknown> {
  return schema === null ? sql.id(name) : sql.id(schema, name);
}

function select(kysely: Kysely<Schema>, { name }: TableShape) {
  const rows = (kysely as unknown as Kysely<Record<string, TableRow>>).selectFrom(name);
  return name === "meta" ? rows.where("key", "not in", [...OWN_FACTS]) : rows;
}
