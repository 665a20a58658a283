/**
 * The board's tables for Kysely; `migrations/3-board.ts` and later ones create them. No behaviour.
 */
import type { Generated } from "kysely";

export interface BoardSchema {
  projects: ProjectsTable;
  repos: ReposTable;
  work_items: WorkItemsTable;
  attempts: AttemptsTable;
  attempt_repos: AttemptReposTable;
  board_sessions: BoardSessionsTable;
  follow_ups: FollowUpsTable;
  board_requests: BoardRequestsTable;
  approvals: ApprovalsTable;
}

interface ProjectsTable {
  id: string;
  name: string;
  created_at: number;
  updated_at: number;
}

interface ReposTable {
  id: string;
  project_id: string;
  name: string;
  path: string;
  /** JSON: an array of patterns. */
  copy: string;
  setup: string | null;
  created_at: number;
}

interface WorkItemsTable {
  id: string;
  project_id: string;
  title: string;
  description: string | null;
  status: string;
  created_at: number;
  updated_at: number;
}

interface AttemptsTable {
  id: string;
  work_item_id: string;
  host: string;
  variant: string | null;
  branch: string;
  state: string;
  error: string | null;
  folder: string | null;
  created_at: number;
  updated_at: number;
  machine: Generated<string>;
  /** What git said of a merge that met conflicts, until somebody goes on; null otherwise. */
  conflict: string | null;
  conflict_at: number | null;
}

interface AttemptReposTable {
  attempt_id: string;
  /** Its position in the request. */
  position: number;
  repo_id: string;
  target_branch: string;
  path: string | null;
  merged_commit: string | null;
}

interface BoardSessionsTable {
  id: string;
  attempt_id: string;
  task_id: string;
  host: string;
  created_at: number;
}

interface FollowUpsTable {
  /** Increasing: the order of the queue. */
  number: Generated<number>;
  id: string;
  session_id: string;
  prompt: string;
  variant: string | null;
  queued_at: number;
  after_run: number | null;
  error: string | null;
}

/** Calls that carry an id of the caller's choice; the answer is null while the call is in progress. */
interface BoardRequestsTable {
  operation: string;
  request_id: string;
  input_hash: string;
  answer: string | null;
  at: number;
}

/** What a person has to approve; `subject` identifies it within its kind. */
interface ApprovalsTable {
  id: string;
  kind: string;
  subject: string;
  directory: string;
  script: string | null;
  state: string;
  asked_by: string;
  created_at: number;
  decided_at: number | null;
}
