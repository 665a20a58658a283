/**
 * Makes the lines agree with the rows of waiting runs: puts runs back that wait in no line, which nobody would ever be
 * given, and removes jobs that no run answers to, which would be taken for nothing. The lines are in a schema of their
 * own: when a database is restored, or a store is copied once more, one may come without the other. Looks once, when a
 * store is opened.
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
export async function repairLines(
  { read, write }: Pick<Database, "read" | "write">,
  lines: Lines,
  jobs: string,
): Promise<void> {
  const { stale, lost } = await read(async (kysely) => {
    const known = (await isTable(kysely, jobs)) ? jobs : null;
    return { stale: known === null ? [] : await readStale(kysely, known), lost: await readLost(kysely, known) };
  });
  if (stale.length > 0) {
    await write(async (kysely) => {
      await refuseIfNewer(kysely);
      await sql`delete from ${sql.raw(jobs)} where id = any(${stale}::uuid[])`.execute(kysely);
    });
  }
  for (const line of new Set(lost.map(({ line }) => line))) await lines.open(line);
  for (let from = 0; from < lost.length; from += PAGE) {
    const page = lost.slice(from, from + PAGE);
    await write(async (kysely) => {
      await refuseIfNewer(kysely);
      await putAllInLines(kysely, lines, await lockLost(kysely, page));
    });
  }
}

async function isTable(kysely: Kysely<Schema>, name: string): Promise<boolean> {
  const { rows } = await sql<{ table: string | null }>`select to_regclass(${name}) as table`.execute(kysely);
  return (rows[0]?.table ?? null) !== null;
}

const IS_PLACE = sql<boolean>`job.name = queued_runs.line and job.id::text = queued_runs.ticket`;

/** No run will ever answer to them: each place that a run gets has a ticket of its own. */
async function readStale(kysely: Kysely<Schema>, jobs: string): Promise<string[]> {
  const rows = await kysely
    .selectFrom(sql<{ id: string }>`${sql.raw(jobs)}`.as("job"))
    .select("job.id")
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("queued_runs")
            .select("task_id")
            .where(sql<boolean>`queued_runs.state = 'waiting'`)
            .where(IS_PLACE),
        ),
      ),
    )
    .execute();
  return rows.map(({ id }) => id);
}

/** `jobs`: null if there is no such table. */
async function readLost(kysely: Kysely<Schema>, jobs: string | null): Promise<LostRun[]> {
  const waiting = kysely
    .selectFrom("queued_runs")
    .select(["task_id", "line", "ticket"])
    .where(sql<boolean>`state = 'waiting'`)
    .where("line", "not like", "folder-%");
  if (jobs === null) return waiting.execute();
  return waiting.where(sql<boolean>`not exists (select 1 from ${sql.raw(jobs)} as job where ${IS_PLACE})`).execute();
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
