/**
 * The part of the store's seam that the board uses. Every list is a page by a key, in an order that ties do not disturb, and
 * costs what the page costs. Each write is one transaction. Does not know git, hosts or rules beyond uniqueness.
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

/** Where a page begins: after this entry. */
export interface PageStart {
  createdAt: number;
  id: string;
}

export interface BoardPage {
  /** At most 201: one more than the longest page, so that its end can be seen. */
  limit: number;
  after: PageStart | null;
}

/** What a list shows of a work item's attempts. */
export interface AttemptSummary {
  latestAttemptId: string | null;
  /** With the status and phase of its newest session's task: how that attempt stands. */
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

/** An attempt with everything that is kept about it. */
export interface AttemptRecord extends AttemptRow {
  item: WorkItem;
  /** In the order of the request. */
  repos: (AttemptRepo & { name: string; repoPath: string })[];
}

/** The repo as it is asked for in an attempt. */
export type AttemptRepoInput = Pick<AttemptRepo, "repoId" | "targetBranch">;

export interface FollowUpQueue {
  head: FollowUp | null;
  count: number;
  /** The newest run of the session's task that had ended when one of them was queued; null where there is none. */
  afterRun: number | null;
}

export interface BoardRequest {
  inputHash: string;
  /** JSON; null while the call is under way, or when its process died. */
  answer: string | null;
}

export interface WorkItemFilter {
  /** Null: any. */
  status: WorkItemStatus | null;
  /** Words that must all be in the title or the description; empty: any. */
  search: string;
}

export interface BoardRecords {
  /** Rises with every change of the board, whichever process makes it. */
  version(): Promise<number>;

  /** With its first repos, or not at all: false where a name is taken. */
  addProject(project: Project, repos?: readonly BoardRepo[]): Promise<boolean>;
  project(id: string): Promise<Project | null>;
  /** Oldest first. */
  projects(page: BoardPage): Promise<Project[]>;
  /** False while it has work items; its repos go with it. */
  removeProject(id: string): Promise<boolean>;

  /** False where the name is taken in its project. */
  addRepo(repo: BoardRepo): Promise<boolean>;
  /** `taken`: another repo of its project has the name; `gone`: there is no such repo. */
  changeRepo(
    id: string,
    fields: Partial<Pick<BoardRepo, "name" | "copy" | "setup">>,
  ): Promise<"done" | "taken" | "gone">;
  /** `used`: an attempt works on it. */
  removeRepo(id: string): Promise<"done" | "used" | "gone">;
  /** Those that exist, at most 50. */
  repos(ids: readonly string[]): Promise<BoardRepo[]>;
  /** The one that was added first, where several projects have it. */
  repoAt(path: string): Promise<BoardRepo | null>;
  /** Oldest first. */
  reposOf(projectId: string, page: BoardPage): Promise<BoardRepo[]>;

  /** False where its project is gone. */
  addWorkItem(item: WorkItem): Promise<boolean>;
  workItem(id: string): Promise<(WorkItem & AttemptSummary) | null>;
  /** Newest first, ties by the smaller id. */
  workItems(projectId: string, filter: WorkItemFilter, page: BoardPage): Promise<WorkItemRow[]>;
  /** False where it is gone. */
  changeWorkItem(
    id: string,
    fields: Partial<Pick<WorkItem, "title" | "description" | "status">>,
    at: number,
  ): Promise<boolean>;
  /** Also its attempts, their sessions and follow-ups; the engine's tasks stay. */
  removeWorkItem(id: string): Promise<void>;

  /** False where its work item is gone. */
  addAttempt(attempt: Attempt, repos: readonly AttemptRepoInput[]): Promise<boolean>;
  attempt(id: string): Promise<AttemptRecord | null>;
  /** Newest first, ties by the smaller id. */
  attempts(workItemId: string, page: BoardPage): Promise<AttemptRow[]>;
  /** Of all work items, or of one project's. Newest first, ties by the smaller id. */
  allAttempts(projectId: string | null, page: BoardPage): Promise<ListedAttempt[]>;
  /** Oldest first, at most 200. */
  startingAttempts(): Promise<Attempt[]>;
  /** `paths`: the worktrees by repo id; null: they are gone. */
  changeAttempt(
    id: string,
    fields: Partial<Pick<Attempt, "state" | "error" | "folder">> & { paths?: Record<string, string> | null },
    at: number,
  ): Promise<void>;
  /** The attempt is merged and its work item done. `commits`: what was made on the target branches, by repo id. */
  mergeAttempt(id: string, commits: Record<string, string>, at: number): Promise<void>;
  removeAttempt(id: string): Promise<void>;
  /** The attempt that has a worktree, or its folder, at the first of these paths that is one. */
  attemptAt(paths: readonly string[]): Promise<string | null>;

  /** Writes the session and makes its attempt ready; nothing happens where the attempt is gone or the task has one. */
  addSession(session: BoardSession): Promise<void>;
  session(id: string): Promise<BoardSession | null>;
  sessionOfTask(taskId: string): Promise<BoardSession | null>;

  /** Puts it at the end of the queue, with the run that had ended by then; earlier refusals are forgotten. */
  queueFollowUp(followUp: Omit<FollowUp, "afterRun" | "error">): Promise<void>;
  queue(sessionId: string): Promise<FollowUpQueue>;
  /** The first of the queue, in order; at most 200. */
  followUps(sessionId: string, limit: number): Promise<FollowUp[]>;
  /** Takes all out of the queue; says how many. */
  cancelFollowUps(sessionId: string): Promise<number>;
  /** Says why one could not begin; null for the id: forgets it for all of the queue. */
  refuseFollowUp(sessionId: string, id: string | null, error: string | null): Promise<void>;
  /** Sessions that have follow-ups, at most 1,000. */
  queuedSessions(): Promise<string[]>;

  approval(kind: Approval["kind"], subject: string): Promise<Approval | null>;
  /** Newest first, ties by the smaller id; of one state, or of all. */
  approvals(state: Approval["state"] | null, page: BoardPage): Promise<Approval[]>;
  countRequested(): Promise<number>;
  /** Writes it unless its subject is known; a decision replaces what was there. Gives what is there afterwards. */
  putApproval(approval: Approval): Promise<Approval>;
  /** Null where there is no such request. */
  decideApproval(id: string, state: "approved" | "denied", at: number): Promise<Approval | null>;
  /** Whether one of the paths is a repo, the folder of an attempt, or a directory that was approved. */
  hasKnownDirectory(paths: readonly string[]): Promise<boolean>;

  /** Takes the name for one call; null where this call has it now, else what is known of the first. */
  claimRequest(operation: string, requestId: string, inputHash: string, at: number): Promise<BoardRequest | null>;
  answerRequest(operation: string, requestId: string, answer: string): Promise<void>;
  dropRequest(operation: string, requestId: string): Promise<void>;
  /** Forgets what is older. */
  pruneRequests(before: number): Promise<void>;
}
