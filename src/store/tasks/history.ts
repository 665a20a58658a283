/**
 * What happened over time: tasks by start, runs by duration. Reads ranges of covering indexes, so the cost depends on
 * the window, not on what is stored. Does not add empty buckets.
 */
import { type Kysely, sql } from "kysely";
import { AsyncAgentsError } from "../../model/errors.ts";
import { STATUSES } from "../../model/task.ts";
import type { Schema } from "../schema.ts";
import type { HistoryCounts, HistoryQuery, UsageQuery } from "../store.ts";

const MOST_BUCKETS = 500;
const MOST_BOUNDS = 100;
/** A clock that was set back must not make a duration negative. */
const DURATION = sql<number>`case when ended_at > started_at then ended_at - started_at else 0 end`;

export async function readHistory(kysely: Kysely<Schema>, query: HistoryQuery): Promise<HistoryCounts> {
  assertBounds(query);
  const buckets = bucketsIn(query);
  const started = buckets === 0 ? [] : await selectStarted(kysely, query, buckets).execute();
  const ended = await selectDurations(kysely, query).execute();
  const runs = new Map(ended.map((row) => [Number(row.step), Number(row.runs)]));
  const steps = [...query.durationBounds, null];
  return {
    buckets: started.flatMap((row) => {
      const at = query.from + row.bucket * query.bucketMs;
      const counts = STATUSES.map((status) => ({ at, status, count: Number(row[status]) }));
      return counts.filter(({ count }) => count > 0);
    }),
    durations: steps.map((below, step) => ({ below, runs: runs.get(step) ?? 0 })),
  };
}

/** Each count is a range of the status index, which is much faster than grouping the rows. */
function selectStarted(kysely: Kysely<Schema>, { from, to, bucketMs }: HistoryQuery, buckets: number) {
  const first = sql<number>`cast(0 as double precision)`;
  const begin = sql<number>`${from} + bucket.number * ${bucketMs}`;
  const next = sql<number>`${from} + (bucket.number + 1) * ${bucketMs}`;
  const end = sql<number>`case when ${next} < ${to} then ${next} else ${to} end`;
  return kysely
    .withRecursive("bucket(number)", (bucket) =>
      bucket.selectNoFrom(first.as("number")).unionAll(
        bucket
          .selectFrom("bucket")
          .select(sql<number>`bucket.number + 1`.as("number"))
          .where("bucket.number", "<", buckets - 1),
      ),
    )
    .selectFrom("bucket")
    .select("bucket.number as bucket")
    .select(({ selectFrom }) =>
      STATUSES.map((status) =>
        selectFrom("tasks")
          .select(sql<number>`count(*)`.as("count"))
          .where("tasks.status", "=", status)
          .where("tasks.started_at", ">=", begin)
          .where("tasks.started_at", "<", end)
          .$asScalar()
          .as(status),
      ),
    )
    .orderBy("bucket.number");
}

function selectDurations(kysely: Kysely<Schema>, { from, to, durationBounds }: HistoryQuery) {
  const cases = durationBounds.map((bound, step) => sql`when ${DURATION} < ${bound} then ${sql.lit(step)}`);
  const last = sql.lit(durationBounds.length);
  const step =
    cases.length === 0 ? sql<number>`${last}` : sql<number>`case ${sql.join(cases, sql` `)} else ${last} end`;
  return kysely
    .selectFrom("runs")
    .select([step.as("step"), sql<number>`count(*)`.as("runs")])
    .where("ended_at", ">=", from)
    .where("ended_at", "<", to)
    .groupBy(sql.ref("step"));
}

/** The number of buckets in the window. Rejects what cannot be counted. */
export function bucketsIn({ from, to, bucketMs }: UsageQuery): number {
  if (!Number.isFinite(from) || !Number.isFinite(to) || !Number.isFinite(bucketMs) || bucketMs <= 0) {
    throw refusal({ from, to, bucketMs }, "from, to and bucketMs must be numbers, and bucketMs greater than 0.");
  }
  const buckets = Math.max(0, Math.ceil((to - from) / bucketMs));
  if (buckets <= MOST_BUCKETS) return buckets;
  throw refusal(
    { from, to, bucketMs },
    `This window has ${buckets} buckets; the maximum is ${MOST_BUCKETS}. Ask for a shorter window or longer buckets.`,
  );
}

function assertBounds({ durationBounds, ...window }: HistoryQuery): void {
  const rising = durationBounds.every(
    (bound, place) => bound > (durationBounds[place - 1] ?? Number.NEGATIVE_INFINITY),
  );
  if (rising && durationBounds.length <= MOST_BOUNDS) return;
  throw refusal(window, `durationBounds must be increasing, and at most ${MOST_BOUNDS}.`);
}

function refusal({ from, to, bucketMs }: UsageQuery, message: string): AsyncAgentsError {
  return new AsyncAgentsError("invalid_input", message, { details: { from, to, bucketMs } });
}
