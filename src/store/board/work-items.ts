/**
 * Work items, each with a summary of its attempts, in one statement per page. The latest attempt is the one created
 * last, ties by the smaller id; the same holds for sessions. Does not decide a status.
 */
import { type Kysely, sql } from "kysely";
import type { AttemptState, WorkItem, WorkItemStatus } from "../../model/board.ts";
import type { Phase, Status } from "../../model/task.ts";
import type { Schema } from "../schema.ts";
import { lock } from "../sql/lock.ts";
import { likePattern, wordsOf } from "../tasks/search.ts";
import { removeAttemptsOf } from "./attempt-writes.ts";
import { afterKey, pageLimit } from "./pages.ts";
import type { AttemptSummary, BoardPage, WorkItemFilter, WorkItemRow } from "./records.ts";

export async function addWorkItem(kysely: Kysely<Schema>, item: WorkItem): Promise<boolean> {
  await lock(kysely, "project", item.projectId);
  const project = await kysely.selectFrom("projects").select("id").where("id", "=", item.projectId).executeTakeFirst();
  if (project === undefined) return false;
  await kysely
    .insertInto("work_items")
    .values({
      id: item.id,
      project_id: item.projectId,
      title: item.title,
      description: item.description,
      status: item.status,
      created_at: item.createdAt,
      updated_at: item.updatedAt,
    })
    .execute();
  return true;
}

export async function readWorkItem(kysely: Kysely<Schema>, id: string): Promise<(WorkItem & AttemptSummary) | null> {
  const row = await selectSummaries(kysely)
    .select("work_items.description")
    .where("work_items.id", "=", id)
    .executeTakeFirst();
  return row === undefined ? null : { ...itemOf(row), description: row.description };
}

export async function readWorkItems(
  kysely: Kysely<Schema>,
  projectId: string,
  filter: WorkItemFilter,
  page: BoardPage,
): Promise<WorkItemRow[]> {
  return (await selectWorkItems(kysely, projectId, filter, page).execute()).map(itemOf);
}

function selectWorkItems(
  kysely: Kysely<Schema>,
  projectId: string,
  { status, search }: WorkItemFilter,
  page: BoardPage,
) {
  let rows = selectSummaries(kysely).where("work_items.project_id", "=", projectId);
  if (status !== null) rows = rows.where("work_items.status", "=", status);
  for (const word of wordsOf(search)) rows = rows.where(hasWord(word));
  for (const condition of afterKey("work_items", page, "newest")) rows = rows.where(condition);
  return rows.orderBy("work_items.created_at", "desc").orderBy("work_items.id").limit(pageLimit(page));
}

/** Ignores case. SQLite only knows that of ASCII letters, so other words are also matched as typed. */
function hasWord(word: string) {
  const text = sql<string>`(work_items.title || ' ' || coalesce(work_items.description, ''))`;
  const [typed, lower] = [likePattern(word), likePattern(word.toLowerCase())];
  return sql<boolean>`(${text} like ${typed} escape '\\' or lower${text} like ${lower} escape '\\')`;
}

export async function changeWorkItem(
  kysely: Kysely<Schema>,
  id: string,
  fields: Partial<Pick<WorkItem, "title" | "description" | "status">>,
  at: number,
): Promise<boolean> {
  await lock(kysely, "work_item", id);
  const changed = await kysely
    .updateTable("work_items")
    .set({ ...fields, updated_at: at })
    .where("id", "=", id)
    .returning("id")
    .executeTakeFirst();
  return changed !== undefined;
}

export async function removeWorkItem(kysely: Kysely<Schema>, id: string): Promise<void> {
  await lock(kysely, "work_item", id);
  await removeAttemptsOf(kysely, kysely.selectFrom("attempts").select("id").where("work_item_id", "=", id));
  await kysely.deleteFrom("work_items").where("id", "=", id).execute();
}

interface SummaryRow {
  id: string;
  project_id: string;
  title: string;
  status: string;
  created_at: number;
  updated_at: number;
  attempt_id: string | null;
  branch: string | null;
  state: string | null;
  session_id: string | null;
  host: string | null;
  task_status: string | null;
  task_phase: string | null;
  in_progress: number;
}

function selectSummaries(kysely: Kysely<Schema>) {
  const attempts = kysely
    .selectFrom("attempts as a")
    .select("a.id")
    .where("a.work_item_id", "=", sql.ref<string>("work_items.id"))
    .orderBy("a.created_at", "desc")
    .orderBy("a.id")
    .limit(1);
  const sessions = kysely
    .selectFrom("board_sessions as s")
    .select("s.id")
    .where("s.attempt_id", "=", sql.ref<string>("latest.id"))
    .orderBy("s.created_at", "desc")
    .orderBy("s.id")
    .limit(1);
  return kysely
    .selectFrom("work_items")
    .leftJoin("attempts as latest", (join) => join.on("latest.id", "=", attempts))
    .leftJoin("board_sessions as session", (join) => join.on("session.id", "=", sessions))
    .leftJoin("tasks", "tasks.id", "session.task_id")
    .select(["work_items.id", "work_items.project_id", "work_items.title", "work_items.status"])
    .select(["work_items.created_at", "work_items.updated_at"])
    .select(["latest.id as attempt_id", "latest.branch", "latest.state"])
    .select(["session.id as session_id", "session.host", "tasks.status as task_status"])
    .select("tasks.phase as task_phase")
    .select(({ exists, selectFrom, or }) =>
      sql<number>`case when ${exists(
        selectFrom("attempts as at_work")
          .select("at_work.id")
          .where("at_work.work_item_id", "=", sql.ref<string>("work_items.id"))
          .where((attempt) =>
            or([
              attempt("at_work.state", "=", "starting"),
              exists(
                selectFrom("tasks as live")
                  .select("live.id")
                  .where("live.batch_id", "=", sql.ref<string>("at_work.id"))
                  .where("live.live", "=", 1),
              ),
            ]),
          ),
      )} then 1 else 0 end`.as("in_progress"),
    );
}

function itemOf(row: SummaryRow): WorkItemRow {
  return {
    id: row.id,
    projectId: row.project_id,
    title: row.title,
    status: row.status as WorkItemStatus,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    latestAttemptId: row.attempt_id,
    latestAttemptState: row.state as AttemptState | null,
    latestTaskStatus: row.task_status as Status | null,
    latestTaskPhase: row.task_phase as Phase | null,
    latestBranch: row.branch,
    latestSessionId: row.session_id,
    latestHost: row.host,
    inProgress: row.in_progress === 1,
    lastFailed: row.state === "failed" || row.task_status === "error" || row.task_status === "cancelled",
  };
}
