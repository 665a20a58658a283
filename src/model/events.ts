/**
 * Everything that can happen to a task, as data. An event is a fact with its time; `transition` decides its effect.
 * Events of a run carry its number, so that a late event of an earlier run changes nothing.
 */
import type { After } from "./after.ts";
import type { Door } from "./answer.ts";
import type { NewBudgets } from "./budgets/budget.ts";
import type { Progress } from "./progress.ts";
import type { SteeringEvent } from "./steering.ts";
import type { PauseCause, Phase, PhaseDetail, Run, Task, TaskClone, Wake } from "./task.ts";

/** The data needed to create a task. */
export interface NewTask
  extends Pick<Task, "id" | "sessionId" | "host" | "directory" | "parentSessionId" | "parentMessageId" | "parentAgent">,
    Pick<Task, "description" | "agent" | "model" | "batchId" | "isForked" | "owner">,
    Pick<Run, "prompt" | "messageId"> {
  /** Unknown when absent. */
  machine?: string;
  /** Each end when absent. */
  wake?: Wake;
  /** It has no session yet, and waits for these. Nothing when absent. */
  after?: After | null;
  /** Budgets that come with it. */
  budgets?: NewBudgets;
}

export type TaskEvent =
  /** `isOver`: its launch was interrupted, and its run ends in the same transaction: it is stored, whatever is left. */
  | { type: "task.created"; at: number; task: NewTask; isOver?: true }
  | { type: "task.imported"; at: number; task: Task }
  | { type: "task.adopted"; at: number; owner: string }
  | TaskClaimed
  | TaskEdited
  | TaskResumed
  | { type: "run.progressed"; at: number; run: number; progress: Progress }
  | { type: "run.phased"; at: number; run: number; phase: Phase; detail: PhaseDetail | null }
  | { type: "run.completed"; at: number; run: number; result: string; progress: Progress | null }
  | { type: "run.failed"; at: number; run: number; error: string; progress: Progress | null }
  | { type: "run.cancelled"; at: number; run: number; reason: string; progress: Progress | null }
  | { type: "run.requeued"; at: number; run: number; reason: string; progress: Progress }
  | RunPaused
  /** A paused run is about to be told to go on. `messageId`: that prompt's; only what follows it is evidence now. */
  | { type: "run.continued"; at: number; run: number; messageId: string }
  /** A door showed what the task waits for to a person. */
  | { type: "request.seen"; at: number; run: number; requestId: string; by: Door }
  /** After an answer, the agent showed that it went on. */
  | { type: "request.applied"; at: number; run: number; requestId: string }
  | { type: "cancel.requested"; at: number; run: number }
  | SteeringEvent
  | BudgetEvent
  | { type: "result.retrieved"; at: number }
  /** `run`: the newest one that whoever clears it knows; any when absent, as in earlier versions. */
  | { type: "task.cleared"; at: number; run?: number };

/** With this task's progress, 80 % of a budget was reached, or all of it. `text`: how much, for people. */
export type BudgetEvent = ({ type: "budget.warned" } | { type: "budget.used_up" }) & {
  at: number;
  budget: string;
  text: string;
};

/** A runner made the session of a queued task and is about to prompt it. */
export interface TaskClaimed extends Pick<Task, "sessionId" | "directory" | "agent" | "model">, Pick<Run, "messageId"> {
  type: "task.claimed";
  at: number;
  run: number;
  owner: string;
  /** The machine that has the session. Unknown when absent. */
  machine?: string;
  clone?: TaskClone | null;
}

/** A task that has not started waits for others from now on, or gets another prompt. */
export interface TaskEdited {
  type: "task.edited";
  at: number;
  run: number;
  after: After | null;
  prompt: string;
}

/** Nothing works for the run until then, and then it goes on by itself. */
export interface RunPaused {
  type: "run.paused";
  at: number;
  run: number;
  cause: PauseCause;
  until: number;
  reason: string;
  progress: Progress;
}

/** With `agent`, the task switches to that agent from this run on. */
export interface TaskResumed {
  type: "task.resumed";
  at: number;
  prompt: string;
  messageId: string;
  owner: string | null;
  allow: Resumable;
  agent?: string;
}

export type TaskEventType = TaskEvent["type"];

/** Which ended tasks may be resumed in addition to completed ones. */
export type Resumable = readonly ("error" | "cancelled")[];
