/**
 * What is told to people outside of the program: which events are worth it, and in which words. What agents wrote is
 * cut to one line each, with hidden characters spelled out. Pure: where it is sent, the rules and the channels decide.
 */
import type { Approval } from "../approval.ts";
import { subjectOf } from "../budgets/budget.ts";
import { budgetThatStopped } from "../budgets/budget-text.ts";
import type { BudgetEvent, TaskEvent, TaskEventType } from "../events.ts";
import { isBreach } from "../limits.ts";
import type { Task } from "../task.ts";
import { asLine } from "../text/foreign-text.ts";

/** `budget`: a run was stopped at a limit, or a budget is used up, or nearly. `failed`: any other failed run. */
export const NOTIFIED_KINDS = ["ended", "failed", "needs_you", "budget"] as const;
export type NotifiedKind = (typeof NOTIFIED_KINDS)[number];

/** `summary`: several in one. `test`: somebody tries a channel. */
export type NotificationKind = NotifiedKind | "summary" | "test";

/** What a receiver is told. All texts are lines that can be shown as they are. */
export interface NotificationContent {
  kind: NotificationKind;
  /** When it happened. */
  at: number;
  title: string;
  /** What the agent said, asked, or failed with. */
  text: string;
  /** Null for what belongs to no task. */
  taskId: string | null;
  run: number | null;
  description: string;
  agent: string | null;
  host: string | null;
  directory: string;
  /** How many are in it: 1, or more in a summary. */
  count: number;
}

/** Something that happened and is worth telling. */
export interface Notable {
  /** The same for the same thing, so that it is told once. */
  key: string;
  content: NotificationContent;
  /** Whether a person launched the task, and no agent. */
  isPersons: boolean;
}

const TITLE_CHARS = 120;
const TEXT_CHARS = 400;

const WORDS: Record<NotifiedKind, string> = {
  ended: "Finished",
  failed: "Failed",
  needs_you: "Needs you",
  budget: "Stopped at a limit",
};
const COUNTED: Record<NotifiedKind, string> = {
  ended: "finished",
  failed: "failed",
  needs_you: "waiting for you",
  budget: "about limits",
};
const BUDGET_WORDS: Record<BudgetEvent["type"], string> = {
  "budget.warned": "Budget nearly used up",
  "budget.used_up": "Budget used up",
};

const NOTABLE: ReadonlySet<TaskEventType> = new Set([
  "run.completed",
  "run.failed",
  "run.phased",
  "budget.warned",
  "budget.used_up",
]);

/** False if it is not worth telling, whatever its task is like. */
export function mayBeNotable({ type }: TaskEvent): boolean {
  return NOTABLE.has(type);
}

/** Null if the event is not worth telling, or what it asks has been answered meanwhile. */
export function notableOf(seq: number, event: TaskEvent, task: Task): Notable | null {
  const isPersons = task.parentSessionId === "";
  const made = (kind: NotifiedKind, key: string, text: string, run: number): Notable => {
    const content = { ...taskContent(kind, event.at, task), text: asLine(text, TEXT_CHARS), run };
    return { key, content, isPersons };
  };
  if (event.type === "run.completed") return made("ended", `event:${seq}`, event.result, event.run);
  if (event.type === "run.failed") {
    // The budget has told it, once for all that it stops.
    if (budgetThatStopped(event.error) !== null) return null;
    return made(isBreach(event.error) ? "budget" : "failed", `event:${seq}`, event.error, event.run);
  }
  if (event.type === "budget.warned" || event.type === "budget.used_up") {
    const raise =
      event.type === "budget.used_up"
        ? `. Its runs are stopped; raise it: asyncagents budget set ${event.budget} …`
        : "";
    const notable = made("budget", `event:${seq}`, `${event.text}${raise}`, task.run.number);
    const title = titleOf(BUDGET_WORDS[event.type], budgetWords(event.budget, task));
    return { ...notable, content: { ...notable.content, title } };
  }
  const { phaseDetail: now } = task;
  const then = event.type === "run.phased" ? event.detail : null;
  if (then?.kind === "blocked" && now?.kind === "blocked" && now.by === then.by) {
    return made("needs_you", `blocked:${task.id}/${then.by}`, then.text, task.run.number);
  }
  if (then?.kind !== "waiting" || now?.kind !== "waiting" || now.requestId !== then.requestId) return null;
  return made("needs_you", `request:${task.id}/${then.requestId}`, then.text, task.run.number);
}

/** What a budget is for, by the description of the task that used it: nobody knows the ids by heart. */
function budgetWords(id: string, { id: taskId, description }: Task): string {
  const { kind, subject } = subjectOf(id) ?? {};
  if (kind === "task" && subject === taskId) return description;
  const of = kind === "batch" ? "the batch of" : kind === "session" ? "the session that launched" : "the task above";
  return `${of} "${description}"`;
}

export function notableApproval({ id, kind, directory, askedBy, createdAt }: Approval): Notable {
  const what = kind === "setup" ? "run a setup script in each new worktree of" : "let agents work in";
  const content: NotificationContent = {
    kind: "needs_you",
    at: createdAt,
    title: titleOf(WORDS.needs_you, "an approval"),
    text: asLine(`${askedBy} wants to ${what} ${directory}`, TEXT_CHARS),
    taskId: null,
    run: null,
    description: "",
    agent: null,
    host: null,
    directory,
    count: 1,
  };
  return { key: `approval:${id}`, content, isPersons: false };
}

function taskContent(kind: NotifiedKind, at: number, task: Task): Omit<NotificationContent, "text" | "run"> {
  const { id, agent, host, directory } = task;
  const description = asLine(task.description, TITLE_CHARS);
  return {
    kind,
    at,
    title: titleOf(WORDS[kind], description),
    taskId: id,
    description,
    agent: asLine(agent, TITLE_CHARS),
    host,
    directory,
    count: 1,
  };
}

const BEFORE_SUBJECT = ": ";

/** What happened comes first: `withoutDetails` leaves only that. */
function titleOf(happened: string, subject: string): string {
  return `${happened}${BEFORE_SUBJECT}${asLine(subject, TITLE_CHARS)}`;
}

const SHOWN_IN_SUMMARY = 10;

/** Several as one, oldest first; the rest is counted. */
export function summaryOf(parts: readonly NotificationContent[], at: number): NotificationContent {
  const lines = parts.slice(0, SHOWN_IN_SUMMARY).map(({ title }) => title);
  const more = parts.length - lines.length;
  const counts = NOTIFIED_KINDS.flatMap((kind) => {
    const count = parts.filter((part) => part.kind === kind).length;
    return count === 0 ? [] : [`${count} ${COUNTED[kind]}`];
  });
  return {
    kind: "summary",
    at,
    title: `${parts.length} notifications: ${counts.join(", ")}`,
    text: [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join("\n"),
    taskId: null,
    run: null,
    description: "",
    agent: null,
    host: null,
    directory: "",
    count: parts.length,
  };
}

/** Only what happened: for receivers that should not read what tasks are about. */
export function withoutDetails(content: NotificationContent): NotificationContent {
  const { kind, title } = content;
  const isOwn = kind === "summary" || kind === "test";
  const [happened = ""] = title.split(BEFORE_SUBJECT);
  return { ...content, title: isOwn ? title : happened, text: "", description: "", agent: null, directory: "" };
}

export function testContent(channel: string, at: number): NotificationContent {
  return {
    kind: "test",
    at,
    title: "asyncagents: a test",
    text: `The channel ${channel} works.`,
    taskId: null,
    run: null,
    description: "",
    agent: null,
    host: null,
    directory: "",
    count: 1,
  };
}
