/**
 * What needs a person, as one list, oldest first: requests of live tasks, approvals, tasks that cannot start because of
 * another one, runs that failed with nobody but a person to tell, merges that met conflicts, and budgets that are used
 * up, with what they stopped. Pure: what is undecided, the store finds; who may answer, the doors decide.
 */
import type { Door } from "./answer.ts";
import type { Approval } from "./approval.ts";
import { type Budget, subjectOf } from "./budgets/budget.ts";
import { budgetThatStopped, subjectText, usageText } from "./budgets/budget-text.ts";
import { isBreach } from "./limits.ts";
import type { AfterDetail, Task } from "./task.ts";
import { asLine } from "./text/foreign-text.ts";

/**
 * `blocked`: a task waits for one that did not complete. `limit`: a run was stopped at a limit. `failed`: any other
 * failed run. `budget`: one is used up. `conflict`: an attempt could not be merged.
 */
export const INBOX_KINDS = [
  "permission",
  "question",
  "approval",
  "blocked",
  "failed",
  "limit",
  "budget",
  "conflict",
] as const;
export type InboxKind = (typeof INBOX_KINDS)[number];

/** What can be done about an entry, in the words of the operations. */
export const INBOX_ANSWERS = [
  "once",
  "always",
  "reject",
  "text",
  "decline",
  "approve",
  "deny",
  "start",
  "cancel",
  "resume",
  "read",
  "raise",
] as const;
export type InboxAnswer = (typeof INBOX_ANSWERS)[number];

const ANSWERS: Record<InboxKind, readonly InboxAnswer[]> = {
  permission: ["once", "always", "reject"],
  question: ["text", "decline"],
  approval: ["approve", "deny"],
  blocked: ["start", "cancel"],
  failed: ["resume", "read"],
  limit: ["resume", "read"],
  budget: ["raise"],
  conflict: ["resume"],
};

export interface InboxEntry {
  /** Stays the same while the entry is there. */
  id: string;
  kind: InboxKind;
  /** Since when it waits. */
  since: number;
  /** What is asked, or what went wrong. */
  text: string;
  answers: readonly InboxAnswer[];
  /** What it belongs to; null for an approval and for a budget. */
  task: Task | null;
  /** Of a permission or a question. */
  requestId: string | null;
  approval: Approval | null;
  /** The budget that is used up, and what it is for, in words. */
  budget?: Budget;
  subject?: string;
  seen: readonly Door[];
}

interface InboxSources {
  /** Live tasks in phase `waiting`. */
  waiting: readonly Task[];
  /** Tasks whose newest run failed, and whose end nobody has read. */
  failed: readonly Task[];
  /** Requested and undecided. */
  approvals: readonly Approval[];
  /** Used up. */
  budgets?: readonly Budget[];
  /** What these budgets stopped, newest first. */
  stopped?: readonly StoppedTask[];
  /** The newest tasks of attempts whose merge met conflicts. */
  conflicts?: readonly Conflict[];
}

/** A task whose newest run was stopped because a budget was used up. */
export interface StoppedTask {
  id: string;
  description: string;
  budgetId: string;
}

interface Conflict {
  task: Task;
  text: string;
  at: number;
}

/** A run that a used-up budget stopped is part of that budget's entry, until the budget is raised. */
export function inboxOf(sources: InboxSources): InboxEntry[] {
  const { waiting, failed, approvals, budgets = [], stopped = [], conflicts = [] } = sources;
  const usedUp = new Set<string | null>(budgets.map(({ id }) => id));
  const others = failed.filter(({ run }) => !usedUp.has(budgetThatStopped(run.error)));
  const ended = [
    ...others.map(failedEntry),
    ...budgets.map((budget) => budgetEntry(budget, stopped)),
    ...conflicts.map(conflictEntry),
  ];
  const entries = [...waiting.flatMap(requestEntry), ...ended, ...approvals.map(approvalEntry)];
  return entries.sort((one, other) => one.since - other.since || (one.id < other.id ? -1 : 1));
}

function requestEntry(task: Task): InboxEntry[] {
  const { phaseDetail: detail } = task;
  if (detail?.kind === "blocked") return [blockedEntry(task, detail)];
  if (detail?.kind !== "waiting") return [];
  const { requestId, asks: kind, text, seen = [], at = task.progress.lastUpdate } = detail;
  const id = `${task.id}/${requestId}`;
  return [{ id, kind, since: at, text, answers: ANSWERS[kind], task, requestId, approval: null, seen }];
}

function blockedEntry(task: Task, { by, text, at: since }: Extract<AfterDetail, { kind: "blocked" }>): InboxEntry {
  const id = `${task.id}/after-${by}`;
  const answers = ANSWERS.blocked;
  return { id, kind: "blocked", since, text, answers, task, requestId: null, approval: null, seen: [] };
}

function failedEntry(task: Task): InboxEntry {
  const text = task.run.error ?? "";
  const kind = isBreach(text) ? "limit" : "failed";
  const since = task.completedAt ?? task.startedAt;
  const id = `${task.id}/run-${task.run.number}`;
  return { id, kind, since, text, answers: ANSWERS[kind], task, requestId: null, approval: null, seen: [] };
}

function budgetEntry(budget: Budget, stopped: readonly StoppedTask[]): InboxEntry {
  const own = stopped.filter(({ budgetId }) => budgetId === budget.id);
  const runs = own.length === 0 ? "" : ` It stopped ${namesOf(own, MOST_NAMES)}.`;
  const command = `asyncagents budget set ${budget.id} …`;
  const raise =
    own.length === 0 ? `To raise it: ${command}` : `Once it is raised (${command}), what it stopped can be resumed.`;
  const text = `The budget of ${subjectText(budget)} is used up: ${usageText(budget)}.${runs} ${raise}`;
  const since = budget.usedUpAt ?? budget.setAt;
  const about = { task: null, requestId: null, approval: null, seen: [], budget, subject: subjectWords(budget, own) };
  return { id: budget.id, kind: "budget", since, text, answers: ANSWERS.budget, ...about };
}

/** What a budget is for, by the descriptions of its tasks: nobody knows the ids by heart. */
function subjectWords(budget: Budget, stopped: readonly StoppedTask[]): string {
  const { kind, subject } = subjectOf(budget.id) ?? {};
  const own = kind === "task" ? stopped.find(({ id }) => id === subject) : undefined;
  if (own !== undefined) return own.description;
  if (stopped.length === 0) return subjectText(budget);
  const names = namesOf(stopped, 2);
  if (kind === "batch") return `the batch of ${names}`;
  return kind === "session" ? `the session that launched ${names}` : `the task above ${names}`;
}

const MOST_NAMES = 10;

function namesOf(tasks: readonly StoppedTask[], most: number): string {
  const names = tasks.slice(0, most).map(({ description }) => `"${asLine(description, NAME_CHARS)}"`);
  const more = tasks.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const NAME_CHARS = 80;

function conflictEntry({ task, text, at: since }: Conflict): InboxEntry {
  const id = `${task.batchId}/conflict`;
  const about = { task, requestId: null, approval: null, seen: [] };
  return { id, kind: "conflict", since, text, answers: ANSWERS.conflict, ...about };
}

function approvalEntry(approval: Approval): InboxEntry {
  const { id, createdAt: since, kind, directory, script } = approval;
  const what = kind === "setup" ? "run this script in each new worktree of" : "let agents work in";
  const text = `${what} ${directory}${script === null ? "" : `\n${script}`}`;
  return {
    id,
    kind: "approval",
    since,
    text,
    answers: ANSWERS.approval,
    task: null,
    requestId: null,
    approval,
    seen: [],
  };
}
