/**
 * Reads attempts with their sessions and worktrees. The newest session is the one created last, ties by the smaller id.
 */
import { type Kysely, sql } from "kysely";
import type { Attempt, AttemptState, BoardSession, WorkItemStatus } from "../../model/board.ts";
import type { Phase, Status } from "../../model/task.ts";
import type { RowOf, Schema } from "../schema.ts";
import { afterKey, pageLimit } from "./pages.ts";
import type { AttemptRecord, AttemptRow, BoardPage, ListedAttempt } from "./records.ts";

const ATTEMPT = [
  "attempts.id",
  "attempts.work_item_id",
  "attempts.host",
  "attempts.variant",
  "attempts.branch",
  "attempts.state",
  "attempts.error",
  "attempts.folder",
  "attempts.created_at",
  "attempts.updated_at",
  "attempts.machine",
] as const;
const SESSION = ["id", "attempt_id", "task_id", "host", "created_at"] as const;
const MOST_STARTING = 200;
/** The maximum number of paths to look up; a deeper path is not a real one. */
const MOST_PATHS = 300;

export async function readAttempt(kysely: Kysely<Schema>, id: string): Promise<AttemptRecord | null> {
  const row = await selectAttempts(kysely)
    .innerJoin("work_items", "work_items.id", "attempts.work_item_id")
    .select(["work_items.project_id", "work_items.title", "work_items.description", "work_items.status"])
    .select(["work_items.created_at as item_created_at", "work_items.updated_at as item_updated_at"])
    .where("attempts.id", "=", id)
    .executeTakeFirst();
  if (row === undefined) return null;
  const repos = await kysely
    .selectFrom("attempt_repos")
    .innerJoin("repos", "repos.id", "attempt_repos.repo_id")
    .select([
      "repo_id",
      "target_branch",
      "attempt_repos.path",
      "merged_commit",
      "repos.name",
      "repos.path as repo_path",
    ])
    .where("attempt_id", "=", id)
    .orderBy("position")
    .execute();
  return {
    ...attemptRowOf(row),
    item: {
      id: row.work_item_id,
      projectId: row.project_id,
      title: row.title,
      description: row.description,
      status: row.status as WorkItemStatus,
      createdAt: row.item_created_at,
      updatedAt: row.item_updated_at,
    },
    repos: repos.map((repo) => ({
      attemptId: id,
      repoId: repo.repo_id,
      targetBranch: repo.target_branch,
      path: repo.path,
      mergedCommit: repo.merged_commit,
      name: repo.name,
      repoPath: repo.repo_path,
    })),
  };
}

export async function readAttempts(kysely: Kysely<Schema>, itemId: string, page: BoardPage): Promise<AttemptRow[]> {
  return (await selectAttemptsOf(kysely, itemId, page).execute()).map(attemptRowOf);
}

function selectAttemptsOf(kysely: Kysely<Schema>, itemId: string, page: BoardPage) {
  let rows = selectAttempts(kysely).where("attempts.work_item_id", "=", itemId);
  for (const condition of afterKey("attempts", page, "newest")) rows = rows.where(condition);
  return rows.orderBy("attempts.created_at", "desc").orderBy("attempts.id").limit(pageLimit(page));
}

export async function readAllAttempts(
  kysely: Kysely<Schema>,
  projectId: string | null,
  page: BoardPage,
): Promise<ListedAttempt[]> {
  const rows = await selectAllAttempts(kysely, projectId, page).execute();
  return rows.map((row) => ({
    ...attemptRowOf(row),
    projectId: row.project_id,
    title: row.title,
    // PostgreSQL returns a count as a string.
    queuedCount: Number(row.queued_count ?? 0),
  }));
}

function selectAllAttempts(kysely: Kysely<Schema>, projectId: string | null, page: BoardPage) {
  let rows = selectAttempts(kysely)
    .innerJoin("work_items", "work_items.id", "attempts.work_item_id")
    .select(["work_items.project_id", "work_items.title"])
    .select((row) =>
      row
        .selectFrom("follow_ups")
        .select(sql<number>`count(*)`.as("count"))
        .where("follow_ups.session_id", "=", sql.ref<string>("session.id"))
        .as("queued_count"),
    );
  if (projectId !== null) rows = rows.where("work_items.project_id", "=", projectId);
  for (const condition of afterKey("attempts", page, "newest")) rows = rows.where(condition);
  return rows.orderBy("attempts.created_at", "desc").orderBy("attempts.id").limit(pageLimit(page));
}

export async function readStartingAttempts(kysely: Kysely<Schema>, machine: string): Promise<Attempt[]> {
  const rows = await kysely
    .selectFrom("attempts")
    .select(ATTEMPT)
    .where(sql<boolean>`state = 'starting'`)
    .$if(machine !== "", (rows) => rows.where("attempts.machine", "in", ["", machine]))
    .orderBy("created_at")
    .orderBy("id")
    .limit(MOST_STARTING)
    .execute();
  return rows.map(attemptOf);
}

export async function readAttemptAt(kysely: Kysely<Schema>, paths: readonly string[]): Promise<string | null> {
  const wanted = paths.slice(0, MOST_PATHS);
  if (wanted.length === 0) return null;
  const { worktrees, folders } = selectAttemptsAt(kysely, wanted);
  const found = [...(await worktrees.execute()), ...(await folders.execute())];
  const best = found.sort((one, other) => wanted.indexOf(one.path ?? "") - wanted.indexOf(other.path ?? ""))[0];
  return best?.id ?? null;
}

function selectAttemptsAt(kysely: Kysely<Schema>, paths: readonly string[]) {
  return {
    worktrees: kysely.selectFrom("attempt_repos").select(["attempt_id as id", "path"]).where("path", "in", paths),
    folders: kysely.selectFrom("attempts").select(["id", "folder as path"]).where("folder", "in", paths),
  };
}

export async function readSession(kysely: Kysely<Schema>, id: string): Promise<BoardSession | null> {
  const row = await kysely.selectFrom("board_sessions").select(SESSION).where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : sessionOf(row);
}

export async function readSessionOfTask(kysely: Kysely<Schema>, taskId: string): Promise<BoardSession | null> {
  const sessions = kysely.selectFrom("board_sessions").select(SESSION);
  const row = await sessions.where("task_id", "=", taskId).executeTakeFirst();
  return row === undefined ? null : sessionOf(row);
}

function selectAttempts(kysely: Kysely<Schema>) {
  const newest = kysely
    .selectFrom("board_sessions as s")
    .select("s.id")
    .where("s.attempt_id", "=", sql.ref<string>("attempts.id"))
    .orderBy("s.created_at", "desc")
    .orderBy("s.id")
    .limit(1);
  return kysely
    .selectFrom("attempts")
    .leftJoin("board_sessions as session", (join) => join.on("session.id", "=", newest))
    .leftJoin("tasks", "tasks.id", "session.task_id")
    .select(ATTEMPT)
    .select(["tasks.status as task_status", "tasks.phase as task_phase"])
    .select(["session.id as session_id", "session.task_id", "session.host as session_host"])
    .select("session.created_at as session_created_at");
}

type StoredAttempt = Omit<RowOf<"attempts">, "conflict" | "conflict_at">;

interface JoinedRow extends StoredAttempt {
  session_id: string | null;
  task_id: string | null;
  session_host: string | null;
  session_created_at: number | null;
  task_status: string | null;
  task_phase: string | null;
}

function attemptRowOf(row: JoinedRow): AttemptRow {
  const { session_id, task_id, session_host, session_created_at } = row;
  const latestSession =
    session_id === null || task_id === null
      ? null
      : {
          id: session_id,
          attemptId: row.id,
          taskId: task_id,
          host: session_host ?? row.host,
          createdAt: session_created_at ?? 0,
        };
  return {
    ...attemptOf(row),
    latestSession,
    taskStatus: row.task_status as Status | null,
    taskPhase: row.task_phase as Phase | null,
  };
}

function attemptOf(row: StoredAttempt): Attempt {
  return {
    id: row.id,
    workItemId: row.work_item_id,
    host: row.host,
    variant: row.variant,
    branch: row.branch,
    state: row.state as AttemptState,
    error: row.error,
    folder: row.folder,
    machine: row.machine,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function sessionOf(row: RowOf<"board_sessions">): BoardSession {
  return {
    id: row.id,
    attemptId: row.attempt_id,
    taskId: row.task_id,
    host: row.host,
    createdAt: row.created_at,
  };
}
