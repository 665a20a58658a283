/**
 * What runs spent their time on, one row for each run. Written in the transactions of the run's events, and bounded by
 * whoever writes them. Stored as rows of values without names: a run is written often.
 */
import { type Insertable, type Kysely, sql } from "kysely";
import type { WorkSpan } from "../../model/live-run/work-spans.ts";
import { clamp } from "../clamp.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";
import { storableText } from "../storable.ts";
import type { SpanQuery, StoredSpans } from "../store.ts";

const MOST_RUNS = 1_000;

type Values = [WorkSpan["kind"], string | null, number, number | null, number, number, number];

export function spansRow(taskId: string, run: number, spans: readonly WorkSpan[]): Insertable<Schema["run_spans"]> {
  const values = spans.map(({ kind, name, from, to, count, failed, busyMs }): Values => {
    return [kind, name && storableText(name), from, to, count, failed, busyMs];
  });
  return { task_id: taskId, run, spans: JSON.stringify(values) };
}

export const putSpans = preparedQuery<Insertable<Schema["run_spans"]>>((kysely, row) =>
  kysely
    .insertInto("run_spans")
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(["task_id", "run"]).doUpdateSet(({ ref }) => ({ spans: ref("excluded.spans") })),
    ),
);

/** Newest run first. */
export async function readSpans(kysely: Kysely<Schema>, query: SpanQuery): Promise<StoredSpans[]> {
  const runs = kysely
    .selectFrom("tasks")
    .crossJoin("runs")
    .crossJoin("run_spans")
    .whereRef("runs.task_id", "=", "tasks.id")
    .whereRef("run_spans.task_id", "=", "runs.task_id")
    .where(sql<boolean>`run_spans.run = runs.number`)
    .select(["run_spans.task_id", "run_spans.run", "run_spans.spans", "runs.started_at"]);
  const wanted =
    "batchId" in query
      ? runs.where("tasks.batch_id", "=", query.batchId).orderBy("runs.started_at", "desc")
      : runs.where("tasks.id", "=", query.taskId).orderBy("runs.number", "desc");
  const one = "run" in query && query.run !== undefined ? wanted.where("runs.number", "=", query.run) : wanted;
  const rows = await one.limit(clamp(query.limit, MOST_RUNS, MOST_RUNS)).execute();
  return rows.map(({ task_id, run, spans, started_at }) => ({
    taskId: task_id,
    run: Number(run),
    startedAt: Number(started_at),
    spans: (JSON.parse(spans) as Values[]).map(spanOf),
  }));
}

function spanOf([kind, name, from, to, count, failed, busyMs]: Values): WorkSpan {
  return { kind, name, from, to, count, failed, busyMs };
}
