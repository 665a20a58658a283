/**
 * What tasks have used, by when they started and by model. Reads the tasks of the window, so the cost depends on the
 * window, not on what is stored. What a task used counts for the time of its start, also that of later runs.
 */
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "../schema.ts";
import { dialectOf } from "../sql/dialect.ts";
import type { UsageQuery, UsageRow } from "../store.ts";
import { bucketsIn } from "./history.ts";

const MOST_ROWS = 5_000;
const TOKEN_KINDS = ["input", "output", "reasoning", "cacheRead", "cacheWrite"] as const;

export async function readUsage(kysely: Kysely<Schema>, query: UsageQuery): Promise<UsageRow[]> {
  const { from, to, bucketMs } = query;
  if (bucketsIn(query) === 0) return [];
  const bucket = sql<number>`cast(floor((started_at - ${from}) / ${sql.lit(bucketMs)}) as integer)`;
  const total = (...path: string[]) => sql<number>`sum(${numberIn(kysely, path)})`;
  const rows = await kysely
    .selectFrom("tasks")
    .select([bucket.as("bucket"), "model", sql<number>`count(*)`.as("tasks"), total("cost").as("cost")])
    .select(TOKEN_KINDS.map((kind) => total("tokens", kind).as(kind)))
    .select(sql<number>`sum(case when ${unpriced(kysely)} then 1 else 0 end)`.as("unpriced"))
    .where("started_at", ">=", from)
    .where("started_at", "<", to)
    .groupBy([sql.ref("bucket"), "model"])
    .orderBy(sql.ref("bucket"))
    .orderBy(sql`coalesce(model, '')`)
    .limit(MOST_ROWS)
    .execute();
  return rows.map((row) => ({
    at: from + Number(row.bucket) * bucketMs,
    model: row.model,
    tasks: Number(row.tasks),
    cost: Number(row.cost),
    unpriced: Number(row.unpriced),
    tokens: {
      input: Number(row.input),
      output: Number(row.output),
      reasoning: Number(row.reasoning),
      cacheRead: Number(row.cacheRead),
      cacheWrite: Number(row.cacheWrite),
    },
  }));
}

/** It used tokens, and nobody knows what they cost. */
function unpriced(kysely: Kysely<Schema>): RawBuilder<boolean> {
  const number = (...path: string[]) => numberIn(kysely, path);
  return sql`${number("cost")} = 0 and ${number("tokens", "input")} + ${number("tokens", "output")} > 0`;
}

/** A number in a task's progress, which is JSON. */
function numberIn(kysely: Kysely<Schema>, path: readonly string[]): RawBuilder<number> {
  if (dialectOf(kysely) === "sqlite") return sql`json_extract(progress, ${sql.lit(`$.${path.join(".")}`)})`;
  return sql`(cast(progress as json) #>> ${sql.lit(`{${path.join(",")}}`)})::double precision`;
}
