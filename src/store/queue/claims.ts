/**
 * Claims of queued runs, in the caller's transaction: which runs a runner gets next, within the limits, and what
 * becomes of a claim. Invariant: a run is in a line exactly while its row says `waiting`. Locks a line's entry before
 * the row, as `queued-runs.ts` does.
 */
import { type Kysely, sql } from "kysely";
import { awaitsRunner, type Task } from "../../model/task.ts";
import type { Dialect } from "../database.ts";
import { databaseTime } from "../database-time.ts";
import type { RowOf, Schema } from "../schema.ts";
import { among } from "../sql/among.ts";
import { lock } from "../sql/lock.ts";
import { together } from "../sql/together.ts";
import { readTasksById } from "../tasks/reads.ts";
import type { Lines } from "./lines.ts";
import { putAllInLines, putInLine, queuedRunOf, readLines, type StoredLine } from "./queued-runs.ts";
import { Room } from "./room.ts";
import type { ClaimedRun, ClaimRequest, RunClaim, RunNeeds } from "./run-queue.ts";

export interface QueueTables {
  dialect: Dialect;
  lines: Lines;
}

type QueuedRow = RowOf<"queued_runs">;

/** Longer than any runner's claims. */
const LONGEST_LEASE_MS = 120_000;
/** How many claims that ran out are put back at once. */
const MOST_EXPIRED = 100;
/** How many ids without a waiting run a claim takes out of the lines; the next one goes on. */
const MOST_STALE = 100;

export async function claimRuns(
  kysely: Kysely<Schema>,
  tables: QueueTables,
  request: ClaimRequest,
): Promise<ClaimedRun[]> {
  const isLimited = Object.keys(request.limits).length > 0;
  // With limits, runners claim one after the other: what the first one claimed counts for the next.
  if (isLimited) await lock(kysely, "queue", "");
  const stored = await readLines(kysely);
  const served = new Map(stored.filter((line) => serves(request, line)).map((line) => [line.line, line]));
  if (served.size === 0) return [];
  // Those of all lines count for the limits.
  const expired = isLimited ? stored.map(({ line }) => line) : [...served.keys()];
  const open = new Set(served.keys());
  const [isChanged, waiting] = await together([
    putBackExpired(kysely, tables, expired, request),
    isLimited ? null : firstWaiting(kysely, [...open], request.count),
  ]);
  const room = new Room(request.limits, isLimited ? await atWork(kysely, stored) : []);
  const taken: Taken = { rows: [], tasks: new Map() };
  // What was put back waits, too.
  let next = isChanged ? null : waiting;
  for (let stale = 0; stale < MOST_STALE; ) {
    for (const [name, line] of served) if (room.for(line) <= 0) open.delete(name);
    const missing = request.count - taken.rows.length;
    if (missing <= 0 || open.size === 0) break;
    const heads = next ?? (await firstWaiting(kysely, [...open], missing));
    next = null;
    const before = stale;
    for (const [name, its] of Map.groupBy(heads, (head) => head)) {
      const line = served.get(name);
      const count = line === undefined ? 0 : Math.min(its.length, room.for(line));
      const had = taken.rows.length;
      const taking = count > 0 ? await take(kysely, tables, { line: name, count }, { request, taken }) : 0;
      const got = taken.rows.length - had;
      if (line !== undefined) room.add(line, got);
      stale += taking - got;
      // The others are being claimed at this moment, or there is no more room.
      if (taking < its.length) open.delete(name);
    }
    // Nobody else waited, except behind what was stale.
    if (heads.length < missing && stale === before) break;
  }
  return claimedRunsOf(taken, served);
}

/** Rows that are claimed now, and their tasks by id. */
interface Taken {
  rows: QueuedRow[];
  tasks: Map<string, Task>;
}

/** Adds what the line gave to `taken`, and returns how many ids it gave: a row that does not wait is not claimed. */
async function take(
  kysely: Kysely<Schema>,
  { lines, dialect }: QueueTables,
  { line, count }: { line: string; count: number },
  { request, taken }: { request: ClaimRequest; taken: Taken },
): Promise<number> {
  const { taskIds, isRemoved } = await lines.take(kysely, line, count);
  if (taskIds.length === 0) return 0;
  const [, rows, tasks] = await together([
    isRemoved,
    mark(kysely, dialect, taskIds, request),
    readTasksById(kysely, taskIds),
  ]);
  taken.rows.push(...rows);
  for (const task of tasks) taken.tasks.set(task.id, task);
  return taskIds.length;
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
  trouble?: string,
): Promise<boolean> {
  const rows = await held(kysely, taskId, fence)
    .set({ state: "waiting", claimed_by: null, claimed_until: null, ...(trouble !== undefined && { trouble }) })
    .returningAll()
    .execute();
  for (const row of rows) await putInLine(kysely, lines, row);
  return rows.length > 0;
}

/**
 * The claim has done its part: the run begins. False if it was lost, or if the task's new owner is not registered: then
 * others would take the run for an orphan at once. Who ends the run locks its task first, too.
 */
export async function beginClaim(kysely: Kysely<Schema>, { taskId, fence }: RunClaim): Promise<boolean> {
  const ownerless = kysely
    .selectFrom("tasks")
    .select("id")
    .where("id", "=", taskId)
    .where("owner", "is not", null)
    .where("owner", "not in", kysely.selectFrom("instances").select("id"));
  const [, rows] = await together([
    lock(kysely, "task", taskId),
    held(kysely, taskId, fence)
      .set({ state: "begun", claimed_until: null })
      .where((row) => row.not(row.exists(ownerless)))
      .returning("task_id")
      .execute(),
  ]);
  return rows.length > 0;
}

function held(kysely: Kysely<Schema>, taskId: string, fence: number) {
  return kysely
    .updateTable("queued_runs")
    .where("task_id", "=", taskId)
    .where("fence", "=", fence)
    .where("state", "=", "claimed");
}

function serves(
  { hosts, labels, machine, withoutRemotes = [], folders = [] }: ClaimRequest,
  line: StoredLine,
): boolean {
  const isHere = line.machine === null || line.machine === machine;
  if (line.directory != null) {
    return isHere && folders.some(({ host, directory }) => host === line.host && directory === line.directory);
  }
  if (line.remote !== null && withoutRemotes.includes(line.remote)) return false;
  return isHere && hosts.includes(line.host) && line.labels.every((label) => labels.includes(label));
}

/**
 * The runners of those claims died, or were too slow, before anything was prompted. A claim that lasts far too long was
 * made before the clock was set back, and would keep its run until then.
 */
async function putBackExpired(
  kysely: Kysely<Schema>,
  tables: QueueTables,
  names: string[],
  { at, leaseMs }: Pick<ClaimRequest, "at" | "leaseMs">,
): Promise<boolean> {
  const now = databaseTime(tables.dialect, at);
  const longest = sql<number>`${now} + ${Math.max(leaseMs, LONGEST_LEASE_MS)}`;
  const expired = claimedRuns(kysely)
    .where(among(kysely, "line", names))
    .where(({ or, eb }) => or([eb("claimed_until", "<", now), eb("claimed_until", ">", longest)]))
    .limit(MOST_EXPIRED);
  return putBack(kysely, tables, expired);
}

/** The runner is gone: what it claimed and did not begin waits again, at once. */
export async function releaseClaimsOf(kysely: Kysely<Schema>, tables: QueueTables, runner: string): Promise<void> {
  await putBack(kysely, tables, claimedRuns(kysely).where("claimed_by", "=", runner));
}

/** With the condition of its index, literally: that lets the databases choose it. */
function claimedRuns(kysely: Kysely<Schema>) {
  return kysely
    .selectFrom("queued_runs")
    .select("task_id")
    .where(sql<boolean>`queued_runs.state <> 'waiting' and queued_runs.state = 'claimed'`);
}

/** Those that another transaction is changing are left out. Returns whether there was any. */
async function putBack(
  kysely: Kysely<Schema>,
  { dialect, lines }: QueueTables,
  claims: ReturnType<typeof claimedRuns>,
): Promise<boolean> {
  const found = await (dialect === "postgres" ? claims.forUpdate().skipLocked() : claims).execute();
  if (found.length === 0) return false;
  const rows = await kysely
    .updateTable("queued_runs")
    .set({ state: "waiting", claimed_by: null, claimed_until: null })
    .where(
      among(
        kysely,
        "task_id",
        found.map(({ task_id }) => task_id),
      ),
    )
    .returningAll()
    .execute();
  await putAllInLines(kysely, lines, rows);
  return true;
}

/** How many runs of each line are claimed or at work. One whose claim ran out and was not put back begins right now. */
async function atWork(kysely: Kysely<Schema>, lines: readonly StoredLine[]): Promise<[StoredLine, number][]> {
  const rows = await kysely
    .selectFrom("queued_runs")
    .select(["line", sql<number>`count(*)`.as("runs")])
    .where("state", "in", ["claimed", "begun"])
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
    .where(sql<boolean>`state = 'waiting'`)
    .where(among(kysely, "line", names))
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
  return kysely
    .updateTable("queued_runs")
    .set((row) => ({
      state: "claimed",
      fence: row("fence", "+", 1),
      claimed_by: runner,
      claimed_until: sql<number>`${databaseTime(dialect, at)} + ${leaseMs}`,
    }))
    .where(among(kysely, "task_id", ids))
    .where("state", "=", "waiting")
    .returningAll()
    .execute();
}

function claimedRunsOf({ rows, tasks }: Taken, lines: ReadonlyMap<string, StoredLine>): ClaimedRun[] {
  return rows.toSorted(byOrder).flatMap((row) => {
    const task = tasks.get(row.task_id);
    const line = lines.get(row.line);
    if (task === undefined || line === undefined || !awaitsRunner(task)) return [];
    return [{ taskId: task.id, fence: row.fence, task, run: queuedRunOf(row, line) }];
  });
}

const MOST_AT_WORK = 1_000;

/** The lines with runs that are claimed or at work, and how many. */
export async function readAtWork(kysely: Kysely<Schema>): Promise<(readonly [RunNeeds, number])[]> {
  const counted = await atWork(kysely, await readLines(kysely));
  return counted.filter(([, runs]) => runs > 0).slice(0, MOST_AT_WORK);
}

function byOrder(one: QueuedRow, other: QueuedRow): number {
  return other.priority - one.priority || Number(one.seq) - Number(other.seq);
}
