/**
 * Claims of queued runs, in the caller's transaction: which runs a runner gets next, within the limits, and what
 * becomes of a claim. Invariant: a run is in a line exactly while its row says `waiting`. Locks a line's entry before
 * the row, as `queued-runs.ts` does.
 */
import { type Kysely, sql } from "kysely";
import { awaitsRunner } from "../../model/task.ts";
import type { Dialect } from "../database.ts";
import { databaseTime } from "../database-time.ts";
import type { RowOf, Schema } from "../schema.ts";
import { readTasksById } from "../tasks/reads.ts";
import type { Lines } from "./lines.ts";
import { putInLine, readLines, type StoredLine } from "./queued-runs.ts";
import { Room } from "./room.ts";
import type { ClaimedRun, ClaimRequest, RunClaim } from "./run-queue.ts";

export interface QueueTables {
  dialect: Dialect;
  lines: Lines;
}

type QueuedRow = RowOf<"queued_runs">;

/** How many claims that ran out are put back at once. */
const MOST_EXPIRED = 100;

export async function claimRuns(
  kysely: Kysely<Schema>,
  tables: QueueTables,
  request: ClaimRequest,
): Promise<ClaimedRun[]> {
  const isLimited = Object.keys(request.limits).length > 0;
  // With limits, runners claim one after the other: what the first one claimed counts for the next.
  const stored = await readLines(kysely, isLimited && tables.dialect === "postgres");
  const served = new Map(stored.filter((line) => serves(request, line)).map((line) => [line.line, line]));
  if (served.size === 0) return [];
  await putBackExpired(kysely, tables, [...served.keys()], request.at);
  const room = new Room(request.limits, isLimited ? await atWork(kysely, tables.dialect, stored, request.at) : []);
  const taken: QueuedRow[] = [];
  const open = new Set(served.keys());
  for (;;) {
    for (const [name, line] of served) if (room.for(line) <= 0) open.delete(name);
    const missing = request.count - taken.length;
    if (missing <= 0 || open.size === 0) break;
    const heads = await firstWaiting(kysely, [...open], missing);
    if (heads.length === 0) break;
    for (const [name, its] of Map.groupBy(heads, (head) => head)) {
      const line = served.get(name);
      const count = line === undefined ? 0 : Math.min(its.length, room.for(line));
      const ids = count > 0 ? await tables.lines.take(kysely, name, count) : [];
      const rows = await mark(kysely, tables.dialect, ids, request);
      if (line !== undefined) room.add(line, rows.length);
      taken.push(...rows);
      // The others are being claimed at this moment, or there is no more room.
      if (ids.length < its.length) open.delete(name);
    }
    // Nobody else waited.
    if (heads.length < missing) break;
  }
  return withTasks(kysely, taken, served);
}

export async function extendClaim(
  kysely: Kysely<Schema>,
  dialect: Dialect,
  { taskId, fence }: RunClaim,
  { leaseMs, at }: { leaseMs: number; at: number },
): Promise<boolean> {
  const until = sql<number>`${databaseTime(dialect, at)} + ${leaseMs}`;
  const rows = await held(kysely, taskId, fence).set({ claimed_until: until }).returning("task_id").execute();
  return rows.length > 0;
}

export async function releaseClaim(
  kysely: Kysely<Schema>,
  lines: Lines,
  { taskId, fence }: RunClaim,
): Promise<boolean> {
  const rows = await held(kysely, taskId, fence)
    .set({ state: "waiting", claimed_by: null, claimed_until: null })
    .returningAll()
    .execute();
  for (const row of rows) await putInLine(kysely, lines, row);
  return rows.length > 0;
}

/** The claim has done its part: the run begins. False if it was lost. */
export async function beginClaim(kysely: Kysely<Schema>, { taskId, fence }: RunClaim): Promise<boolean> {
  const rows = await held(kysely, taskId, fence)
    .set({ state: "begun", claimed_until: null })
    .returning("task_id")
    .execute();
  return rows.length > 0;
}

function held(kysely: Kysely<Schema>, taskId: string, fence: number) {
  return kysely
    .updateTable("queued_runs")
    .where("task_id", "=", taskId)
    .where("fence", "=", fence)
    .where("state", "=", "claimed");
}

function serves({ hosts, labels, machine }: ClaimRequest, line: StoredLine): boolean {
  const isHere = line.machine === null || line.machine === machine;
  return isHere && hosts.includes(line.host) && line.labels.every((label) => labels.includes(label));
}

/** The runners of those claims died, or were too slow, before anything was prompted. */
async function putBackExpired(
  kysely: Kysely<Schema>,
  { dialect, lines }: QueueTables,
  names: string[],
  at: number,
): Promise<void> {
  const expired = kysely
    .selectFrom("queued_runs")
    .select("task_id")
    .where("line", "in", names)
    .where("state", "=", "claimed")
    .where("claimed_until", "<", databaseTime(dialect, at))
    .limit(MOST_EXPIRED);
  const found = await (dialect === "postgres" ? expired.forUpdate().skipLocked() : expired).execute();
  if (found.length === 0) return;
  const rows = await kysely
    .updateTable("queued_runs")
    .set({ state: "waiting", claimed_by: null, claimed_until: null })
    .where(
      "task_id",
      "in",
      found.map(({ task_id }) => task_id),
    )
    .returningAll()
    .execute();
  for (const row of rows) await putInLine(kysely, lines, row);
}

/** How many runs of each line are claimed or at work. */
async function atWork(
  kysely: Kysely<Schema>,
  dialect: Dialect,
  lines: readonly StoredLine[],
  at: number,
): Promise<[StoredLine, number][]> {
  const rows = await kysely
    .selectFrom("queued_runs")
    .select(["line", sql<number>`count(*)`.as("runs")])
    .where("state", "<>", "waiting")
    .where((row) => row.or([row("state", "=", "begun"), row("claimed_until", ">=", databaseTime(dialect, at))]))
    .groupBy("line")
    .execute();
  const counts = new Map(rows.map(({ line, runs }) => [line, Number(runs)]));
  return lines.map((line) => [line, counts.get(line.line) ?? 0]);
}

/** The lines of the next runs, by priority, then by age. */
async function firstWaiting(kysely: Kysely<Schema>, names: string[], count: number): Promise<string[]> {
  const rows = await kysely
    .selectFrom("queued_runs")
    .select("line")
    .where("state", "=", "waiting")
    .where("line", "in", names)
    .orderBy("priority", "desc")
    .orderBy("seq")
    .limit(count)
    .execute();
  return rows.map(({ line }) => line);
}

async function mark(
  kysely: Kysely<Schema>,
  dialect: Dialect,
  ids: string[],
  { runner, leaseMs, at }: ClaimRequest,
): Promise<QueuedRow[]> {
  if (ids.length === 0) return [];
  return kysely
    .updateTable("queued_runs")
    .set((row) => ({
      state: "claimed",
      fence: row("fence", "+", 1),
      claimed_by: runner,
      claimed_until: sql<number>`${databaseTime(dialect, at)} + ${leaseMs}`,
    }))
    .where("task_id", "in", ids)
    .where("state", "=", "waiting")
    .returningAll()
    .execute();
}

async function withTasks(
  kysely: Kysely<Schema>,
  taken: readonly QueuedRow[],
  lines: ReadonlyMap<string, StoredLine>,
): Promise<ClaimedRun[]> {
  if (taken.length === 0) return [];
  const ids = taken.map(({ task_id }) => task_id);
  const tasks = new Map((await readTasksById(kysely, ids)).map((task) => [task.id, task]));
  return taken.toSorted(byOrder).flatMap((row) => {
    const task = tasks.get(row.task_id);
    const line = lines.get(row.line);
    if (task === undefined || line === undefined || !awaitsRunner(task)) return [];
    const { host, model, labels, machine } = line;
    const { priority, retries, fence } = row;
    const source = row.source === null ? null : JSON.parse(row.source);
    const limits = JSON.parse(row.limits);
    const run = { taskId: task.id, host, model, labels, machine, priority, retries, source, limits };
    return [{ taskId: task.id, fence, task, run }];
  });
}

function byOrder(one: QueuedRow, other: QueuedRow): number {
  return other.priority - one.priority || Number(one.seq) - Number(other.seq);
}
