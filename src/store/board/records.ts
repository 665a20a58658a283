/**
 * The part of the store's seam that the board uses. Every list is a page by key in a stable order, and costs as much as
 * the page, not the list. Each write is one transaction. Knows nothing about git, hosts or rules other than uniqueness.
 */
import type { Approval } from "../../model/approval.ts";
import type {
  Attempt,
  AttemptRepo,
  AttemptState,
  BoardRepo,
  BoardSession,
  FollowUp,
  Project,
  WorkItem,
  WorkItemStatus,
} from "../../model/board.ts";
import type { Phase, Status } from "../../model/task.ts";

/** A page begins after this entry. */
export interface PageStart {
  createdAt: number;
  id: string;
}

export interface BoardPage {
  /** At most 201: one more than the longest page, to detect whether there are more. */
  limit: number;
  after: PageStart | null;
}

/** What a list shows about a work item's attempts. */
export interface AttemptSummary {
  latestAttemptId: string | null;
  /** Together with the status and phase of its newest session's task, the state of that attempt. */
  latestAttemptState: AttemptState | null;
  latestTaskStatus: Status | null;
  latestTaskPhase: Phase | null;
  latestBranch: string | null;
  latestSessionId: string | null;
  latestHost: string | null;
  /** An attempt is being set up or has a live task. */
  inProgress: boolean;
  /** The latest attempt failed, or its newest run failed or was cancelled. */
  lastFailed: boolean;
}

export type WorkItemRow = Omit<WorkItem, "description"> & AttemptSummary;

export interface AttemptRow extends Attempt {
  latestSession: BoardSession | null;
  /** Of the latest session's task. */
  taskStatus: Status | null;
  taskPhase: Phase | null;
}

/** An attempt in the list of all of them. */
export interface ListedAttempt extends AttemptRow {
  projectId: string;
  title: string;
  queuedCount: number;
}

/** An attempt with everything stored about it. */
export interface AttemptRecord extends AttemptRow {
  item: WorkItem;
  /** In the order of the request. */
  repos: (AttemptRepo & { name: string; repoPath: string })[];
}

/** A repo as requested for an attempt. */
export type AttemptRepoInput = Pick<AttemptRepo, "repoId" | "targetBranch">;

export interface FollowUpQueue {
  head: FollowUp | null;
  count: number;
  /** The newest run of the session's task that had ended when one of them was queued; null if there is none. */
  afterRun: number | null;
}

export interface BoardRequest {
  inputHash: string;
  /** JSON; null while the call is in progress, or if its process died. */
  answer: string | null;
}

export interface WorkItemFilter {
  /** Null for any. */
  status: WorkItemStatus | null;
  /** Words that must all occur in the title or the description; empty for any. */
  search: string;
}

export interface BoardRecords {
  /** Increases with every change of the board by any process. */
  version(): Promise<number>;

  /** Adds it with its first repos, or not at all: false if a name is taken. */
  addProject(project: Project, repos?: readonly BoardRepo[]): Promise<boolean>;
  project(id: string): Promise<Project | null>;
  /** Oldest first. */
  projects(page: BoardPage): Promise<Project[]>;
  /** False if it has work items; its repos are removed with it. */
  removeProject(id: string): Promise<boolean>;

  /** False if the name is taken in its project. */
  addRepo(repo: BoardRepo): Promise<boolean>;
  /** `taken`: another repo of its project has the name; `gone`: there is no such repo. */
  changeRepo(
    id: string,
    fields: Partial<Pick<BoardRepo, "name" | "copy" | "setup">>,
  ): Promise<"done" | "taken" | "gone">;
  /** `used`: an attempt uses it. */
  removeRepo(id: string): Promise<"done" | "used" | "gone">;
  /** Those that exist, at most 50. */
  repos(ids: readonly string[]): Promise<BoardRepo[]>;
  /** The one at the longest of these paths. If several projects have it, the one that was added first. */
  repoAt(paths: readonly string[]): Promise<BoardRepo | null>;
  /** Oldest first. */
  reposOf(projectId: string, page: BoardPage): Promise<BoardRepo[]>;

  /** False if its project does not exist. */
  addWorkItem(item: WorkItem): Promise<boolean>;
  workItem(id: string): Promise<(WorkItem & AttemptSummary) | null>;
  /** Newest first, ties by the smaller id. */
  workItems(projectId: string, filter: WorkItemFilter, page: BoardPage): Promise<WorkItemRow[]>;
  /** False if it does not exist. */
  changeWorkItem(
    id: string,
    fields: Partial<Pick<WorkItem, "title" | "description" | "status">>,
    at: number,
  ): Promise<boolean>;
  /** Removes its attempts, their sessions and follow-ups, too; the engine's tasks stay. */
  removeWorkItem(id: string): Promise<void>;

  /** False if its work item does not exist. */
  addAttempt(attempt: Attempt, repos: readonly AttemptRepoInput[]): Promise<boolean>;
  attempt(id: string): Promise<AttemptRecord | null>;
  /** Newest first, ties by the smaller id. */
  attempts(workItemId: string, page: BoardPage): Promise<AttemptRow[]>;
  /** Of all work items, or of one project's. Newest first, ties by the smaller id. */
  allAttempts(projectId: string | null, page: BoardPage): Promise<ListedAttempt[]>;
  /** Those of a machine, or of all; oldest first, at most 200. */
  startingAttempts(machine?: string): Promise<Attempt[]>;
  /** `paths`: the worktrees by repo id; null if they are gone. */
  changeAttempt(
    id: string,
    fields: Partial<Pick<Attempt, "state" | "error" | "folder">> & { paths?: Record<string, string> | null },
    at: number,
  ): Promise<void>;
  /** Marks the attempt merged and its work item done. `commits`: the new commits on the target branches, by repo id. */
  mergeAttempt(id: string, commits: Record<string, string>, at: number): Promise<void>;
  /** The attempt met conflicts when it was merged: a person is shown that until a run begins in it, or it is merged. */
  noteConflict(id: string, text: string, at: number): Promise<void>;
  removeAttempt(id: string): Promise<void>;
  /** The attempt whose worktree or folder is at the first matching path. */
  attemptAt(paths: readonly string[]): Promise<string | null>;

  /**
   * Adds the session and marks its attempt ready. Does nothing if the attempt is gone or the task already has a
   * session.
   */
  addSession(session: BoardSession): Promise<void>;
  session(id: string): Promise<BoardSession | null>;
  sessionOfTask(taskId: string): Promise<BoardSession | null>;

  /** Appends it to the queue, with the run that had ended by then, and forgets earlier refusals. */
  queueFollowUp(followUp: Omit<FollowUp, "afterRun" | "error">): Promise<void>;
  queue(sessionId: string): Promise<FollowUpQueue>;
  /** The first entries of the queue, in order; at most 200. */
  followUps(sessionId: string, limit: number): Promise<FollowUp[]>;
  /** Empties the queue; returns how many there were. */
  cancelFollowUps(sessionId: string): Promise<number>;
  /** Stores why one could not begin. With a null id, sets it for the whole queue. */
  refuseFollowUp(sessionId: string, id: string | null, error: string | null): Promise<void>;
  /** Sessions that have follow-ups, at most 1,000. */
  queuedSessions(): Promise<string[]>;

  approval(kind: Approval["kind"], subject: string): Promise<Approval | null>;
  /** Newest first, ties by the smaller id; of one state, or of all. */
  approvals(state: Approval["state"] | null, page: BoardPage): Promise<Approval[]>;
  /** `askedBy` of each request that waits for a decision, at most 1,000. */
  requestedBy(): Promise<string[]>;
  /** Adds it unless its subject is known; a decision replaces a request. Returns the resulting approval. */
  putApproval(approval: Approval): Promise<Approval>;
  /** With `from`, only an approval in that state changes. Returns it as it is now; null if there is none. */
  decideApproval(
    id: string,
    decision: { state: Approval["state"]; at: number; from?: Approval["state"] },
  ): Promise<Approval | null>;
  /** Whether one of the paths is a repo, a folder of an attempt, or an approved directory. */
  hasKnownDirectory(paths: readonly string[]): Promise<boolean>;

  /** Claims the name for one call; null if this call has it now, otherwise what is known about the first one. */
  claimRequest(operation: string, requestId: string, inputHash: string, at: number): Promise<BoardRequest | null>;
  answerRequest(operation: string, requestId: string, answer: string): Promise<void>;
  dropRequest(operation: string, requestId: string): Promise<void>;
  /** Removes older ones. */
  pruneRequests(before: number): Promise<void>;
}
