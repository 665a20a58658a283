/**
 * The only place where a status is decided. Pure and total: every event on every state gives either a new task or a
 * refusal with its reason; it never throws. An ended task only changes its status by a resume.
 */
import { isBudgetStop } from "./budgets/budget-text.ts";
import type { NewTask, Resumable, RunPaused, TaskClaimed, TaskEdited, TaskEvent, TaskResumed } from "./events.ts";
import { noProgress, type Progress } from "./progress.ts";
import { isLive, type PausedDetail, type PhaseDetail, type Task } from "./task.ts";

/** Why an event changed nothing. `other_owner`: the sender does not drive the task, or no longer does. */
export type Refusal =
  | "unknown_task"
  | "exists"
  | "ended"
  | "stale_run"
  | "live"
  | "not_resumable"
  | "no_change"
  | "other_owner";

/** A notice for the parent. `topic` is unique within the run, so that nothing is reported twice. */
export interface NoticeIntent {
  kind: "ended" | "waiting" | "retrying" | "stalled" | "budget";
  topic: string;
  wake: NoticeWake;
}

/** When a notice starts a turn of the parent: now, when no task of its batch is live any more, or never. */
export type NoticeWake = "now" | "batch" | "silent";

export type Applied = { changed: true; task: Task; notice: NoticeIntent | null };
export type Refused = { changed: false; task: Task | null; reason: Refusal };
export type Transition = Applied | Refused;

/** A provider that fails once is not worth reporting; the parent is notified from this attempt on. */
const RETRY_NOTICE_ATTEMPT = 2;

export function transition(task: Task | null, event: TaskEvent): Transition {
  if (event.type === "task.created") {
    return task === null ? changed(create(event.task, event.at)) : refused(task, "exists");
  }
  if (event.type === "task.imported") return bringIn(task, event.task);
  if (task === null) return refused(null, "unknown_task");
  switch (event.type) {
    case "task.resumed":
      return resume(task, event);
    case "result.retrieved":
      return changed({ ...task, resultRetrievedAt: event.at });
    // The progress that came with the end of a run may have reached it.
    case "budget.warned":
      return changed(task, { kind: "budget", topic: event.text });
    case "budget.used_up":
      return changed(task);
    case "task.cleared":
      // Somebody went on with it meanwhile: that run is in the list, and can be stopped there.
      if ((event.run ?? task.run.number) !== task.run.number) return refused(task, "stale_run");
      return task.clearedAt === null ? changed({ ...task, clearedAt: event.at }) : refused(task, "no_change");
  }
  if (!isLive(task.status)) return refused(task, "ended");
  switch (event.type) {
    case "task.adopted":
      return changed({ ...task, owner: event.owner, fence: task.fence + 1 });
    case "cancel.requested":
      // The run that was meant has ended meanwhile. Earlier versions stored no run.
      if ((event.run ?? task.run.number) !== task.run.number) return refused(task, "stale_run");
      // Repeating is allowed: the driver may have failed to stop the run, and tries again at once.
      return changed({ ...task, cancelRequestedAt: event.at });
  }
  if (event.run !== task.run.number) return refused(task, "stale_run");
  switch (event.type) {
    case "task.claimed":
      return claim(task, event);
    case "task.edited":
      return edit(task, event);
    case "run.requeued":
      return requeue(task, event.progress);
    case "run.progressed":
      return changed({ ...task, progress: event.progress });
    case "run.phased":
      return phase(task, event);
    case "run.paused":
      return halt(task, event);
    case "run.continued":
      return proceed(task, event.messageId);
    case "request.seen":
      return see(task, event);
    case "request.applied":
      return apply(task, event);
    case "run.completed":
      return end(task, "completed", event, { result: event.result, error: null });
    case "run.failed":
      return end(task, "error", event, { result: null, error: event.error });
    case "run.cancelled":
      return end(task, "cancelled", event, { result: null, error: event.reason });
    default:
      // What is said to a run at work is part of it, and changes nothing that the task shows.
      return changed(task);
  }
}

/** A task without a parent has no one to notify. */
function changed(task: Task, notice: Omit<NoticeIntent, "wake"> | null = null): Transition {
  const isTold = notice !== null && task.parentSessionId !== "";
  return { changed: true, task, notice: isTold ? { ...notice, wake: noticeWake(task, notice.kind) } : null };
}

/** A task that needs something does not wait for the others of its batch: they may be waiting for it. */
function noticeWake({ wake, status, phase }: Task, kind: NoticeIntent["kind"]): NoticeWake {
  // What is left of a budget would pay for the turn. A paused task needs nothing, and its parent may share its quota.
  if (wake === "never" || kind === "budget" || phase === "paused") return "silent";
  if (kind !== "ended" || wake === "each") return "now";
  if (wake === "all") return "batch";
  return status === "error" ? "now" : "silent";
}

function refused(task: Task | null, reason: Refusal): Transition {
  return { changed: false, task, reason };
}

function create(input: NewTask, at: number): Task {
  const { prompt, messageId, machine = "", wake = "each", after = null, budgets: _budgets, ...rest } = input;
  return {
    ...rest,
    machine,
    wake,
    after,
    clone: null,
    fence: 0,
    status: "running",
    phase: input.sessionId === "" ? "queued" : "starting",
    phaseDetail: after === null ? null : { kind: "after" },
    run: newRun(0, prompt, messageId, at, noProgress(at)),
    startedAt: at,
    completedAt: null,
    resultRetrievedAt: null,
    clearedAt: null,
    cancelRequestedAt: null,
    progress: noProgress(at),
  };
}

/** Adds an ended task from elsewhere unchanged, without a notice. Rejects a live one, because no process drives it. */
function bringIn(task: Task | null, imported: Task): Transition {
  if (task !== null) return refused(task, "exists");
  // Earlier versions stored none of these.
  const { fence = 0, machine = "", wake = "each", clone = null, after = null } = imported as Partial<Task>;
  const run = { ...imported.run, pauses: imported.run.pauses ?? null };
  if (isLive(imported.status)) return refused(null, "live");
  return changed({ ...imported, fence, machine, wake, clone, after, run });
}

function newRun(number: number, prompt: string, messageId: string, at: number, before: Progress): Task["run"] {
  const open = { endedAt: null, outcome: null, result: null, error: null, pauses: null };
  return { number, prompt, messageId, startedAt: at, ...open, before };
}

function claim(task: Task, event: TaskClaimed): Transition {
  if (task.sessionId !== "") return refused(task, "other_owner");
  const { owner, sessionId, directory, agent, model, messageId, machine = "", clone = null } = event;
  // The time that it waited for others is not its own.
  const startedAt = task.after === null ? task.run.startedAt : event.at;
  const run = { ...task.run, messageId, startedAt };
  const claimed = { owner, fence: task.fence + 1, machine, clone, sessionId, directory, agent, model, run };
  return changed({ ...task, ...claimed, phase: "starting", phaseDetail: null });
}

/** It waits again, until its predecessors are judged anew. */
function edit(task: Task, { after, prompt }: TaskEdited): Transition {
  if (task.sessionId !== "") return refused(task, "other_owner");
  const phaseDetail = after === null ? null : ({ kind: "after" } as const);
  return changed({ ...task, after, run: { ...task.run, prompt }, phase: "queued", phaseDetail });
}

/** The run starts again in another session. What its first try used stays counted. */
function requeue(task: Task, progress: Progress): Transition {
  if (task.sessionId === "") return refused(task, "no_change");
  const run = { ...task.run, messageId: "", before: progress, pauses: null };
  const waiting = { owner: null, fence: task.fence + 1, machine: "", sessionId: "" };
  return changed({ ...task, ...waiting, run, progress, phase: "queued", phaseDetail: null });
}

function resume(task: Task, event: TaskResumed): Transition {
  if (isLive(task.status)) return refused(task, "live");
  if (!isResumable(task, event.allow)) return refused(task, "not_resumable");
  return changed({
    ...task,
    agent: event.agent ?? task.agent,
    status: "resumed",
    phase: "starting",
    phaseDetail: null,
    run: newRun(task.run.number + 1, event.prompt, event.messageId, event.at, task.progress),
    completedAt: null,
    resultRetrievedAt: null,
    clearedAt: null,
    cancelRequestedAt: null,
    owner: event.owner,
    fence: task.fence + 1,
    progress: { ...task.progress, lastUpdate: event.at },
  });
}

/**
 * Completed tasks can always be resumed, and those that were stopped for a budget; other failed and cancelled ones only
 * if `allow` lists their status.
 */
export function isResumable(task: Task, allow: Resumable): boolean {
  const isFine = task.status === "completed" || (task.status === "error" && isBudgetStop(task.run.error));
  return isFine || (allow as readonly string[]).includes(task.status);
}

function phase(task: Task, event: Extract<TaskEvent, { type: "run.phased" }>): Transition {
  if (task.phase === event.phase && sameDetail(task.phaseDetail, event.detail)) return refused(task, "no_change");
  return changed({ ...task, phase: event.phase, phaseDetail: event.detail }, noticeOf(event));
}

const NEVER_PAUSED = { quota: 0, stall: 0, waitMs: 0 };

function halt(task: Task, { at, cause, until, reason, progress }: RunPaused): Transition {
  const { pauses } = task.run;
  const before = pauses ?? NEVER_PAUSED;
  const count = before[cause] + 1;
  const detail: PausedDetail = { kind: "paused", cause, until, reason, count };
  // A write whose answer was lost is repeated.
  if (task.phase === "paused" && sameDetail(task.phaseDetail, { ...detail, count: before[cause] }))
    return refused(task, "no_change");
  const waitMs = before.waitMs + (cause === "quota" ? Math.max(0, until - at) : 0);
  const run = { ...task.run, pauses: { ...before, [cause]: count, waitMs, progress } };
  const kind = cause === "quota" ? "retrying" : "stalled";
  const topic = `paused:${cause}:${count}`;
  return changed({ ...task, phase: "paused", phaseDetail: detail, run, progress }, { kind, topic });
}

function proceed(task: Task, messageId: string): Transition {
  if (task.run.messageId === messageId) return refused(task, "no_change");
  return changed({ ...task, phase: "starting", phaseDetail: null, run: { ...task.run, messageId } });
}

/** Each door is recorded once for a request. */
function see(task: Task, { requestId, by }: Extract<TaskEvent, { type: "request.seen" }>): Transition {
  const { phaseDetail: detail } = task;
  if (detail?.kind !== "waiting" || detail.requestId !== requestId) return refused(task, "no_change");
  const { seen = [] } = detail;
  return seen.includes(by)
    ? refused(task, "no_change")
    : changed({ ...task, phaseDetail: { ...detail, seen: [...seen, by] } });
}

function apply(task: Task, { requestId, at }: Extract<TaskEvent, { type: "request.applied" }>): Transition {
  const { phaseDetail: detail } = task;
  const isOpen = detail?.kind === "answered" && detail.requestId === requestId && detail.appliedAt === undefined;
  return isOpen ? changed({ ...task, phaseDetail: { ...detail, appliedAt: at } }) : refused(task, "no_change");
}

function noticeOf({ phase, detail }: Extract<TaskEvent, { type: "run.phased" }>): Omit<NoticeIntent, "wake"> | null {
  if (phase === "stalled") return { kind: "stalled", topic: "stalled" };
  if (detail?.kind === "waiting") return { kind: "waiting", topic: `waiting:${detail.requestId}` };
  if (detail?.kind === "blocked") return { kind: "waiting", topic: `blocked:${detail.by}` };
  if (detail?.kind === "retrying" && detail.count >= RETRY_NOTICE_ATTEMPT)
    return { kind: "retrying", topic: "retrying" };
  return null;
}

function sameDetail(a: PhaseDetail | null, b: PhaseDetail | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === "after") return b.kind === "after";
  if (a.kind === "blocked") return b.kind === "blocked" && a.by === b.by;
  if (a.kind === "retrying" && b.kind === "retrying")
    return a.reason === b.reason && a.count === b.count && a.next === b.next && a.until === b.until;
  if (a.kind === "paused" && b.kind === "paused")
    return a.cause === b.cause && a.until === b.until && a.reason === b.reason && a.count === b.count;
  return a.kind === b.kind && "requestId" in a && "requestId" in b && a.requestId === b.requestId;
}

function end(
  task: Task,
  status: "completed" | "error" | "cancelled",
  event: { at: number; progress: Progress | null },
  outcome: Pick<Task["run"], "result" | "error">,
): Transition {
  const ended: Task = {
    ...task,
    status,
    phase: null,
    phaseDetail: task.phaseDetail?.kind === "answered" ? task.phaseDetail : null,
    run: { ...task.run, endedAt: event.at, outcome: status, ...outcome },
    completedAt: event.at,
    cancelRequestedAt: null,
    owner: null,
    progress: event.progress ?? task.progress,
  };
  return changed(ended, { kind: "ended", topic: "ended" });
}
