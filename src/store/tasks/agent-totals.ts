/**
 * The totals of each agent's tasks, updated in the transaction of every event, so that reading them does not depend on
 * the number of tasks. The numbers by status are those of the stored tasks. The rest is what agents have done in all:
 * the sum over stored and pruned tasks and runs, each for the agent that did it.
 * On PostgreSQL an agent has several rows, one for each `slot` of connections: writes do not wait for each other.
 */
import { type Kysely, sql } from "kysely";
import { runDuration, STATUSES, type Status, type Task } from "../../model/task.ts";
import { compiledOnce, given, preparedQuery } from "../compiled-query.ts";
import type { RowOf, Schema } from "../schema.ts";
import { dialectOf } from "../sql/dialect.ts";
import { together } from "../sql/together.ts";
import type { AgentTotals } from "../store.ts";

const MOST_AGENTS = 1_000;

const PROGRESS = [
  "tool_calls",
  "input_tokens",
  "output_tokens",
  "reasoning_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "cost",
] as const;
const ADDED = [...STATUSES, ...PROGRESS, "ended_runs", "duration_sum"] as const;
const COLUMNS = ["agent", ...ADDED, "duration_min", "duration_max"] as const;

type TotalsRow = Omit<RowOf<"agent_totals">, "slot">;

/** What an event changed. `before` is null for a task that the event created. */
interface TaskStep {
  before: Task | null;
  after: Task;
}

/** Adds what events changed, with one statement for each agent. */
export async function addToTotals(kysely: Kysely<Schema>, steps: readonly TaskStep[]): Promise<void> {
  const byAgent = Map.groupBy(steps.flatMap(changesOf), ({ agent }) => agent);
  const sums = [...byAgent.values()].map((changes) => changes.reduce(sumOf));
  const real = sums.filter((sum) => ADDED.some((name) => sum[name] !== 0));
  // In one order, so that two processes that do this at once do not wait for each other.
  await together(real.toSorted(byName).map((sum) => add(kysely, sum)));
}

function changesOf({ before, after }: TaskStep): TotalsRow[] {
  const change = { ...changeOfTask(before, after), ...changeOfRun(before, after), agent: after.agent };
  if (before === null || before.agent === after.agent) return [change];
  // The task counts for its new agent; earlier work and usage stay with the previous one.
  const { agent, status } = before;
  return [
    { ...nothingOf(agent), [status]: -1 },
    { ...change, [status]: change[status] + 1 },
  ];
}

function sumOf(one: TotalsRow, other: TotalsRow): TotalsRow {
  const sum = { ...one };
  for (const name of ADDED) sum[name] += other[name];
  const durations = [one, other].filter(({ ended_runs }) => ended_runs > 0);
  if (durations.length === 0) return sum;
  sum.duration_min = Math.min(...durations.map(({ duration_min }) => duration_min ?? 0));
  sum.duration_max = Math.max(...durations.map(({ duration_max }) => duration_max ?? 0));
  return sum;
}

function byName(one: TotalsRow, other: TotalsRow): number {
  return one.agent < other.agent ? -1 : 1;
}

/** Removes pruned tasks from the numbers by status. What was done and paid stays. */
export async function subtractTasks(
  kysely: Kysely<Schema>,
  counts: ReadonlyMap<string, Readonly<Record<Status, number>>>,
): Promise<void> {
  // In one order, so that two processes that do this at once do not wait for each other.
  for (const [agent, own] of [...counts].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const fewer = Object.fromEntries(STATUSES.map((status) => [status, -own[status]]));
    await add(kysely, { ...nothingOf(agent), ...fewer });
  }
}

function nothingOf(agent: string): TotalsRow {
  const zeros = Object.fromEntries(COLUMNS.map((name) => [name, 0])) as unknown as TotalsRow;
  return { ...zeros, agent, duration_min: null, duration_max: null };
}

function changeOfTask(before: Task | null, after: Task) {
  const isNow = (status: Status) => Number(after.status === status) - Number(before?.status === status);
  const counts = Object.fromEntries(STATUSES.map((status) => [status, isNow(status)])) as Record<Status, number>;
  const amounts = amountsOf(after);
  const earlier = before === null ? null : amountsOf(before);
  if (earlier !== null) for (const name of PROGRESS) amounts[name] -= earlier[name];
  return { ...counts, ...amounts };
}

/** An ended run stays counted when the next one begins. */
function changeOfRun(before: Task | null, after: Task) {
  const ends = after.run.endedAt !== null && (before === null || before.run.endedAt === null);
  if (!ends) return { ended_runs: 0, duration_sum: 0, duration_min: null, duration_max: null };
  const duration = runDuration(after, 0);
  return { ended_runs: 1, duration_sum: duration, duration_min: duration, duration_max: duration };
}

function amountsOf({ progress }: Task): Record<(typeof PROGRESS)[number], number> {
  const { toolCalls, tokens, cost } = progress;
  return {
    tool_calls: finite(toolCalls),
    input_tokens: finite(tokens.input),
    output_tokens: finite(tokens.output),
    reasoning_tokens: finite(tokens.reasoning),
    cache_read_tokens: finite(tokens.cacheRead),
    cache_write_tokens: finite(tokens.cacheWrite),
    cost: finite(cost),
  };
}

/** A host's wrong figures must not spoil all others. */
function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

const add = preparedQuery<TotalsRow>((kysely, change) => {
  const own = (name: string) => sql`agent_totals.${sql.id(name)}`;
  const added = (name: string) => sql`excluded.${sql.id(name)}`;
  // Not min() and max(): they differ between the databases.
  const better = (name: string, sign: "<" | ">") =>
    sql<number>`case when ${own(name)} is null or ${added(name)} ${sql.raw(sign)} ${own(name)} then ${added(name)} else ${own(name)} end`;
  return kysely
    .insertInto("agent_totals")
    .values(change)
    .onConflict((conflict) =>
      conflict.columns(dialectOf(kysely) === "postgres" ? ["agent", "slot"] : ["agent"]).doUpdateSet({
        ...Object.fromEntries(ADDED.map((name) => [name, sql<number>`${own(name)} + ${added(name)}`])),
        duration_min: better("duration_min", "<"),
        duration_max: better("duration_max", ">"),
      }),
    );
});

/** PostgreSQL only: leaves one row of each agent. */
export async function addUpTotals(kysely: Kysely<Schema>): Promise<void> {
  const totals = await selectSums(kysely).execute();
  await kysely.deleteFrom("agent_totals").execute();
  if (totals.length > 0) await kysely.insertInto("agent_totals").values(totals).execute();
}

function selectSums(kysely: Kysely<Schema>) {
  return kysely
    .selectFrom("agent_totals")
    .select("agent")
    .select(ADDED.map((name) => sql<number>`sum(${sql.ref(name)})`.as(name)))
    .select([sql<number | null>`min(duration_min)`.as("duration_min")])
    .select([sql<number | null>`max(duration_max)`.as("duration_max")])
    .groupBy("agent");
}

export async function readAgentTotals(kysely: Kysely<Schema>): Promise<AgentTotals[]> {
  const rows = await selectSums(kysely).orderBy("agent").limit(MOST_AGENTS).execute();
  // Nothing is left of one whose task was given to another agent before it began.
  return rows.filter((row) => ADDED.some((name) => Number(row[name]) !== 0)).map(totalsOf);
}

/** How many tasks there are in these statuses (null for any), of one agent or of all. */
export async function countByStatus(
  kysely: Kysely<Schema>,
  statuses: readonly Status[] | null,
  agent: string | undefined,
): Promise<number> {
  const shape = { statuses: statuses ?? STATUSES, ofAgent: agent !== undefined };
  if (shape.statuses.length === 0) return 0;
  const { rows } = await kysely.executeQuery(countQuery(kysely, shape, agent ?? ""));
  return Number(rows[0]?.total ?? 0);
}

interface CountShape {
  statuses: readonly Status[];
  ofAgent: boolean;
}

const countQuery = compiledOnce<CountShape, string, { total: number | null }>((kysely, { statuses, ofAgent }) => {
  const sum = sql.join(
    statuses.map((status) => sql.ref(status)),
    sql` + `,
  );
  const totals = kysely.selectFrom("agent_totals").select(sql<number | null>`sum(${sum})`.as("total"));
  return ofAgent
    ? totals.where(
        "agent",
        "=",
        given((agent: string) => agent),
      )
    : totals;
});

function totalsOf(row: TotalsRow): AgentTotals {
  return {
    agent: row.agent,
    byStatus: {
      running: row.running,
      completed: row.completed,
      error: row.error,
      cancelled: row.cancelled,
      resumed: row.resumed,
    },
    endedRuns: row.ended_runs,
    durationSum: row.duration_sum,
    durationMin: row.duration_min ?? 0,
    durationMax: row.duration_max ?? 0,
    toolCalls: row.tool_calls,
    tokens: {
      input: row.input_tokens,
      output: row.output_tokens,
      reasoning: row.reasoning_tokens,
      cacheRead: row.cache_read_tokens,
      cacheWrite: row.cache_write_tokens,
    },
    cost: row.cost,
  };
}
