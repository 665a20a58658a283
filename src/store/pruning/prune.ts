/**
 * Removes ended tasks with everything that belongs to them, a page at a time, each page in one transaction: after any
 * crash a task is there with all its rows, or gone with all of them. What stays is decided by `obstacles.ts`; when to
 * prune, and what is too old, by the caller.
 */
import { type Kysely, sql } from "kysely";
import { runHandle } from "../../model/notifications/follower.ts";
import { STATUSES, type Status } from "../../model/task.ts";
import { raiseBoardVersion } from "../board/version.ts";
import { budgetsAmong, removeForgotten, removeUnused } from "../budgets/budget-reads.ts";
import type { Database, Dialect } from "../database.ts";
import { placeOf } from "../feed.ts";
import { readMeta } from "../meta.ts";
import type { Schema } from "../schema.ts";
import { tryLock } from "../sql/lock.ts";
import type { Pruned, PruneObstacle, PruneRequest, PruneStep } from "../store.ts";
import { subtractTasks } from "../tasks/agent-totals.ts";
import { obstaclesTo, type PruneCandidate } from "./obstacles.ts";

/** The tables whose rows belong to one task, named in `task_id`. */
export const TABLES_OF_TASKS = [
  "runs",
  "events",
  "notices",
  "followers",
  "board_sessions",
  "queued_runs",
  "predecessors",
  "transcripts",
  "run_spans",
  "steering",
  "task_budgets",
  "notifications",
] as const satisfies (keyof Schema)[];

/** Small enough that another writer waits for milliseconds. */
const PAGE = 100;

const CANDIDATE = [
  "id",
  "session_id",
  "batch_id",
  "parent_session_id",
  "agent",
  "status",
  "started_at",
  "created_seq",
] as const;

type Write = Database["write"];

/** One step. Nothing is locked if no task is old enough, nor for a dry run. */
export async function pruneStep(
  { read, write, dialect }: Pick<Database, "read" | "dialect"> & { write: Write },
  request: PruneRequest,
): Promise<PruneStep> {
  const looked = await read(async (kysely) => {
    const tasks = await selectCandidates(kysely, request).execute();
    if (tasks.length > 0 && !request.dryRun) return null;
    const { free, kept } = await divide(kysely, dialect, tasks, request);
    return { removed: await countRows(kysely, free), kept, next: nextOf(tasks) };
  });
  if (looked !== null) return looked;
  return write(async (kysely) => {
    const found = await selectCandidates(kysely, request).execute();
    const tasks = dialect === "postgres" ? await lockTasks(kysely, found, request) : found;
    const { free, kept } = await divide(kysely, dialect, tasks, request);
    const removed = await removeTasks(kysely, free, request);
    return { removed, kept, next: nextOf(found) };
  });
}

/** In the order of their start: a task cannot have ended before it started, so an index of its own is not needed. */
function selectCandidates(kysely: Kysely<Schema>, { endedBefore, after, ids }: PruneRequest) {
  const old = kysely
    .selectFrom("tasks")
    .select(CANDIDATE)
    .where("live", "=", 0)
    .where("started_at", "<", endedBefore)
    .where(sql<boolean>`coalesce(completed_at, started_at) < ${endedBefore}`)
    .orderBy("started_at")
    .orderBy("created_seq")
    .limit(PAGE);
  const tasks = ids === undefined ? old : old.where("id", "in", ids);
  if (after === null) return tasks;
  return tasks.where(sql<boolean>`(started_at, created_seq) > (${after.startedAt}, ${after.createdSeq})`);
}

/** On PostgreSQL others may write meanwhile: a task that somebody changes right now is left for the next time. */
async function lockTasks(
  kysely: Kysely<Schema>,
  found: readonly PruneCandidate[],
  request: PruneRequest,
): Promise<PruneCandidate[]> {
  const named = found.map(({ id }) => id);
  const ids = await tryLock(kysely, "task", named);
  if (ids.length === 0) return [];
  // A notice that was dropped can be made due again.
  await kysely.selectFrom("notices").select("id").where("task_id", "in", ids).forUpdate().execute();
  // Somebody may have changed one before it was locked.
  return selectCandidates(kysely, request).where("id", "in", ids).execute();
}

function nextOf(tasks: readonly PruneCandidate[]): PruneStep["next"] {
  const last = tasks.length < PAGE ? undefined : tasks.at(-1);
  return last === undefined ? null : { startedAt: last.started_at, createdSeq: Number(last.created_seq) };
}

async function divide(
  kysely: Kysely<Schema>,
  dialect: Dialect,
  tasks: readonly PruneCandidate[],
  { ids }: PruneRequest,
): Promise<{ free: PruneCandidate[]; kept: PruneStep["kept"] }> {
  const obstacles = await obstaclesTo(kysely, dialect, tasks, { keepsNewest: ids === undefined });
  const kept: Partial<Record<PruneObstacle, number>> = {};
  for (const reason of obstacles.values()) kept[reason] = (kept[reason] ?? 0) + 1;
  return { free: tasks.filter(({ id }) => !obstacles.has(id)), kept };
}

async function countRows(kysely: Kysely<Schema>, tasks: readonly PruneCandidate[]): Promise<PruneStep["removed"]> {
  const removed: Record<string, number> = { tasks: tasks.length };
  if (tasks.length === 0) return removed;
  const ids = tasks.map(({ id }) => id);
  for (const table of TABLES_OF_TASKS) {
    const rows = kysely.selectFrom(table).select(sql<number>`count(*)`.as("count"));
    removed[table] = Number((await rows.where("task_id", "in", ids).executeTakeFirst())?.count ?? 0);
  }
  return removed;
}

async function removeTasks(
  kysely: Kysely<Schema>,
  tasks: readonly PruneCandidate[],
  { endedBefore, ids: named, after }: PruneRequest,
): Promise<PruneStep["removed"]> {
  const removed: Record<string, number> = { tasks: tasks.length };
  if (tasks.length === 0) return removed;
  const ids = tasks.map(({ id }) => id);
  const seq = await newestSeqOf(kysely, ids);
  const budgets = await budgetsAmong(kysely, ids);
  const later = await laterRunsOf(kysely, tasks);
  for (const table of TABLES_OF_TASKS) {
    const { numDeletedRows } = await kysely.deleteFrom(table).where("task_id", "in", ids).executeTakeFirstOrThrow();
    removed[table] = Number(numDeletedRows);
  }
  await kysely.deleteFrom("tasks").where("id", "in", ids).execute();
  await kysely
    .deleteFrom("followers")
    .where("task_id", "in", [...new Set([...tasks.map(({ batch_id }) => batch_id), ...later])])
    .execute();
  // A session goes on after somebody removed its tasks, and what they spent stays counted.
  await removeUnused(kysely, named === undefined ? budgets : budgets.filter((id) => id.startsWith("task:")));
  if (named === undefined && after === null) await removeForgotten(kysely, endedBefore);
  await removeParents(kysely, tasks, endedBefore);
  await subtractTasks(kysely, countsByAgent(tasks));
  if (removed.board_sessions !== 0) await raiseBoardVersion(kysely);
  await recordPruned(kysely, { tasks: tasks.length, seq });
  return removed;
}

/** What later runs may be followed by. */
async function laterRunsOf(kysely: Kysely<Schema>, tasks: readonly PruneCandidate[]): Promise<string[]> {
  const ids = tasks.map(({ id }) => id);
  const rows = await kysely
    .selectFrom("runs")
    .select(["task_id", "number"])
    .where("task_id", "in", ids)
    .where("number", ">", 0)
    .execute();
  const batches = new Map(tasks.map(({ id, batch_id }) => [id, batch_id]));
  return rows.flatMap(({ task_id, number }) =>
    [task_id, batches.get(task_id) ?? task_id].map((launch) => runHandle(launch, number)),
  );
}

/** What is known of sessions whose last task is gone. One that was seen since may be about to launch another. */
async function removeParents(
  kysely: Kysely<Schema>,
  tasks: readonly PruneCandidate[],
  endedBefore: number,
): Promise<void> {
  const sessions = [...new Set(tasks.map(({ parent_session_id }) => parent_session_id))];
  const own = sql.ref<string>("parents.session_id");
  await kysely
    .deleteFrom("parents")
    .where("session_id", "in", sessions)
    .where("seen_at", "<", endedBefore)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("tasks").select("tasks.id").where("tasks.parent_session_id", "=", own))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("launches").select("launches.id").where("launches.parent_session_id", "=", own))),
    )
    .execute();
}

function countsByAgent(tasks: readonly PruneCandidate[]): Map<string, Record<Status, number>> {
  const counts = new Map<string, Record<Status, number>>();
  for (const { agent, status } of tasks) {
    const none = Object.fromEntries(STATUSES.map((each) => [each, 0])) as Record<Status, number>;
    const own = counts.get(agent) ?? none;
    own[status as Status]++;
    counts.set(agent, own);
  }
  return counts;
}

async function newestSeqOf(kysely: Kysely<Schema>, ids: readonly string[]): Promise<number> {
  const row = await kysely
    .selectFrom("events")
    .select(({ fn }) => fn.max<number | null>(placeOf(kysely)).as("seq"))
    .where("task_id", "in", ids)
    .executeTakeFirst();
  return Number(row?.seq ?? 0);
}

/** Each in one statement: another process may prune at the same time. */
async function recordPruned(kysely: Kysely<Schema>, { tasks, seq }: Pruned): Promise<void> {
  const put = (key: string, value: number, merged: typeof MORE) =>
    kysely
      .insertInto("meta")
      .values({ key, value: String(value) })
      .onConflict((conflict) => conflict.column("key").doUpdateSet({ value: sql`cast(${merged} as text)` }))
      .execute();
  await put("pruned_tasks", tasks, MORE);
  await put("pruned_seq", seq, LATER);
}

const [OLD, NEW] = [sql`cast(meta.value as bigint)`, sql`cast(excluded.value as bigint)`];
const MORE = sql<string>`${OLD} + ${NEW}`;
const LATER = sql<string>`case when ${NEW} > ${OLD} then ${NEW} else ${OLD} end`;

export async function readPruned(kysely: Kysely<Schema>): Promise<Pruned> {
  const [tasks, seq] = [await readMeta(kysely, "pruned_tasks"), await readMeta(kysely, "pruned_seq")];
  return { tasks: Number(tasks ?? 0), seq: Number(seq ?? 0) };
}

/** When the oldest of the newest tasks started; null if there are not that many. */
export async function readStartOfNewest(kysely: Kysely<Schema>, count: number): Promise<number | null> {
  const row = await kysely
    .selectFrom("tasks")
    .select("started_at")
    .orderBy("started_at", "desc")
    .orderBy("created_seq", "desc")
    .limit(1)
    .offset(count - 1)
    .executeTakeFirst();
  return row?.started_at ?? null;
}
