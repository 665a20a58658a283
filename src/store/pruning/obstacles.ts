/**
 * Why an ended task must stay: somebody still needs it. Looked up for a page of tasks at once, each reason by an index,
 * so that the cost depends on the page. Removes nothing.
 */
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { Dialect } from "../database.ts";
import { placeOf } from "../feed.ts";
import type { Schema } from "../schema.ts";
import type { PruneObstacle } from "../store.ts";

export interface PruneCandidate {
  id: string;
  session_id: string;
  batch_id: string;
  parent_session_id: string;
  agent: string;
  status: string;
  started_at: number;
  created_seq: number;
}

const IS_LIVE = sql<boolean>`live = 1`;
const IS_UNSETTLED = sql<boolean>`state in ('pending', 'sending')`;

/** The reason for each task that must stay; tasks that may go are missing. */
export async function obstaclesTo(
  kysely: Kysely<Schema>,
  dialect: Dialect,
  tasks: readonly PruneCandidate[],
  { keepsNewest }: { keepsNewest: boolean },
): Promise<Map<string, PruneObstacle>> {
  const found = new Map<string, PruneObstacle>();
  if (tasks.length === 0) return found;
  const keep = (reason: PruneObstacle, isNeeded: (task: PruneCandidate) => boolean) => {
    for (const task of tasks) if (!found.has(task.id) && isNeeded(task)) found.set(task.id, reason);
  };
  const ids = tasks.map(({ id }) => id);
  // A person who launches tasks is no session, and a task that was cancelled in a queue never had one.
  const sessions = tasks.map(({ session_id }) => session_id).filter((id) => id !== "");
  const batches = [...new Set(tasks.map(({ batch_id }) => batch_id))];

  const untold = await valuesOf(
    kysely.selectFrom("notices").select("task_id as value").where("task_id", "in", ids).where(IS_UNSETTLED),
  );
  keep("notice", ({ id }) => untold.has(id));
  const queued = await valuesOf(
    kysely
      .selectFrom("board_sessions")
      .innerJoin("follow_ups", "follow_ups.session_id", "board_sessions.id")
      .select("board_sessions.task_id as value")
      .where("board_sessions.task_id", "in", ids),
  );
  keep("follow_up", ({ id }) => queued.has(id));
  const attempts = await valuesOf(selectUnfinishedAttempts(kysely, batches));
  keep("attempt", ({ batch_id }) => attempts.has(batch_id));
  const parents = await parentsAtWork(kysely, dialect, sessions);
  keep("parent", ({ session_id }) => parents.has(session_id));
  const live = await valuesOf(
    kysely
      .selectFrom("tasks")
      .select("batch_id as value")
      .where(IS_LIVE)
      .where(amongLive(dialect, "batch_id"), "in", batches),
  );
  const launching = await valuesOf(
    kysely.selectFrom("launches").select("batch_id as value").where("batch_id", "in", batches),
  );
  keep("batch", ({ batch_id }) => live.has(batch_id) || launching.has(batch_id));
  const awaited = await valuesOf(
    kysely.selectFrom("predecessors").select("predecessor_id as value").where("predecessor_id", "in", ids),
  );
  keep("after", ({ id }) => awaited.has(id));
  const newest = keepsNewest ? await newestTask(kysely) : await valuesOf(selectUnplaced(kysely, dialect, ids));
  keep("newest", ({ id }) => newest.has(id));
  return found;
}

/** A reader may be about to read it. */
async function newestTask(kysely: Kysely<Schema>): Promise<Set<string>> {
  // PostgreSQL puts those first that have no place yet.
  const events = kysely.selectFrom("events").select("task_id as value").orderBy(placeOf(kysely), "desc").limit(1);
  return valuesOf(events);
}

/** Tasks with an event that no reader can have seen: it has no place in the feed yet. */
function selectUnplaced(kysely: Kysely<Schema>, dialect: Dialect, ids: readonly string[]) {
  const events = kysely.selectFrom("events").select("task_id as value").where("task_id", "in", ids);
  return dialect === "postgres" ? events.where("place", "is", null) : events.where(sql<boolean>`1 = 0`);
}

/** Attempts of work items that still have worktrees or work that is not merged. */
function selectUnfinishedAttempts(kysely: Kysely<Schema>, ids: readonly string[]) {
  return kysely
    .selectFrom("attempts")
    .select("attempts.id as value")
    .where("attempts.id", "in", ids)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom("attempts as other")
          .select("other.id")
          .where("other.work_item_id", "=", sql.ref<string>("attempts.work_item_id"))
          .where((row) =>
            row.or([
              row("other.state", "in", ["starting", "ready"]),
              row("other.folder", "is not", null),
              row.exists(
                row
                  .selectFrom("attempt_repos")
                  .select("attempt_repos.path")
                  .where("attempt_repos.attempt_id", "=", sql.ref<string>("other.id"))
                  .where("attempt_repos.path", "is not", null),
              ),
            ]),
          ),
      ),
    );
}

/** Sessions that have launched a task which is live, being launched, or still to be reported to them. */
async function parentsAtWork(
  kysely: Kysely<Schema>,
  dialect: Dialect,
  sessions: readonly string[],
): Promise<Set<string>> {
  if (sessions.length === 0) return new Set();
  const live = await valuesOf(
    kysely
      .selectFrom("tasks")
      .select("parent_session_id as value")
      .where(IS_LIVE)
      .where(amongLive(dialect, "parent_session_id"), "in", sessions),
  );
  const launching = await valuesOf(
    kysely.selectFrom("launches").select("parent_session_id as value").where("parent_session_id", "in", sessions),
  );
  const waiting = await valuesOf(
    kysely
      .selectFrom("notices")
      .select("parent_session_id as value")
      .where(IS_UNSETTLED)
      .where("parent_session_id", "in", sessions),
  );
  return new Set([...live, ...launching, ...waiting]);
}

/**
 * A column that SQLite must not look up by its own index: there are few live tasks, and perhaps many of one batch.
 * PostgreSQL knows that from its statistics.
 */
function amongLive(dialect: Dialect, column: "batch_id" | "parent_session_id") {
  return dialect === "sqlite" ? sql<string>`${sql.ref(column)} || ''` : sql.ref<string>(column);
}

/** Without `distinct`: SQLite would read a whole index to have the values in order. */
// biome-ignore lint/suspicious/noExplicitAny: whichever tables the query reads
async function valuesOf(query: SelectQueryBuilder<any, any, { value: string }>): Promise<Set<string>> {
  return new Set((await query.execute()).map(({ value }) => value));
}
