/**
 * Puts runs back into their lines that wait in none. The lines are in a schema of their own, which perhaps did not come
 * along when a database was restored: nobody would ever be given those runs. Looks once, when a store is opened.
 */
import { type Kysely, sql } from "kysely";
import type { Database } from "../database.ts";
import { refuseIfNewer } from "../migrations/migrations.ts";
import type { Lines } from "../queue/lines.ts";
import { putAllInLines } from "../queue/queued-runs.ts";
import type { RowOf, Schema } from "../schema.ts";

type LostRun = Pick<RowOf<"queued_runs">, "task_id" | "line" | "ticket">;

/** How many are put back in one transaction. */
const PAGE = 100;

/** `jobs`: the table of what waits in lines, quoted. */
export async function restorePlaces(
  { read, write }: Pick<Database, "read" | "write">,
  lines: Lines,
  jobs: string,
): Promise<void> {
  const lost = await read((kysely) => readLost(kysely, jobs));
  for (const line of new Set(lost.map(({ line }) => line))) await lines.open(line);
  for (let from = 0; from < lost.length; from += PAGE) {
    const page = lost.slice(from, from + PAGE);
    await write(async (kysely) => {
      await refuseIfNewer(kysely);
      await putAllInLines(kysely, lines, await lockLost(kysely, page));
    });
  }
}

async function readLost(kysely: Kysely<Schema>, jobs: string): Promise<LostRun[]> {
  const waiting = kysely
    .selectFrom("queued_runs")
    .select(["task_id", "line", "ticket"])
    .where(sql<boolean>`state = 'waiting'`)
    .where("line", "not like", "folder-%");
  const { rows } = await sql<{ table: string | null }>`select to_regclass(${jobs}) as table`.execute(kysely);
  if ((rows[0]?.table ?? null) === null) return waiting.execute();
  const isJob = sql<boolean>`name = queued_runs.line and id::text = queued_runs.ticket`;
  return waiting.where(sql<boolean>`not exists (select 1 from ${sql.raw(jobs)} where ${isJob})`).execute();
}

/** Those that still wait as they did: whoever was given one meanwhile has made it another place, if it waits again. */
async function lockLost(kysely: Kysely<Schema>, lost: readonly LostRun[]): Promise<RowOf<"queued_runs">[]> {
  const tickets = new Map(lost.map(({ task_id, ticket }) => [task_id, ticket]));
  const rows = await kysely
    .selectFrom("queued_runs")
    .selectAll()
    .where("task_id", "in", [...tickets.keys()])
    .where("state", "=", "waiting")
    .forUpdate()
    .skipLocked()
    .execute();
  return rows.filter(({ task_id, ticket }) => tickets.get(task_id) === ticket);
}
