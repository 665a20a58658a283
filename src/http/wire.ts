/**
 * Converts the model's records to the wire format (`src/protocol`): ISO times, the documented field names, and
 * shortened texts in lists and events. Pure.
 */

import type { StoredNotification } from "../engine/notifications/notifier.ts";
import type { FleetRunner, QueuePlace } from "../engine/queue/fleet.ts";
import type { Figures, Group, Overview } from "../engine/watching/overview.ts";
import type { InboxEntry } from "../model/inbox.ts";
import type { Message, MessagePart } from "../model/message.ts";
import { clientText, isClient } from "../model/notifications/follower.ts";
import type { SteeringMessage } from "../model/steering.ts";
import type { PhaseDetail, Run, Task } from "../model/task.ts";
import type { TaskCourse } from "../model/task-course.ts";
import { withoutCredentials } from "../model/text/without-credentials.ts";
import type { LogMessage, LogPart } from "../protocol/conversations.ts";
import type { TaskSnapshot } from "../protocol/events.ts";
import type { WireInboxEntry } from "../protocol/inbox.ts";
import type { WireNotification } from "../protocol/notifications.ts";
import type { ServerRunner } from "../protocol/runners.ts";
import type { TimelineRun } from "../protocol/spans.ts";
import type { TaskGroup } from "../protocol/statistics.ts";
import type { SteeringReceipt } from "../protocol/steering.ts";
import type { BackgroundTask, BackgroundTaskRun } from "../protocol/tasks.ts";

/** The most characters of a prompt, a result or an error in lists and events. */
export const TEXT_CHARS = 8192;
/** What a list reads from the store: one more, to know whether the text is longer. */
export const READ_CHARS = TEXT_CHARS + 1;
const RUN_CHARS = 2048;
const INBOX_CHARS = 2000;
/** The years 0 to 9999, which ISO 8601 writes with four digits and every reader accepts. */
const FIRST_TIME = -62_167_219_200_000;
const LAST_TIME = 253_402_300_799_999;

export function wireSteering(message: SteeringMessage): SteeringReceipt {
  const { messageId, acceptedAt, sentAt, settledAt, ...rest } = message;
  const times = { acceptedAt: iso(acceptedAt), sentAt: isoOrNull(sentAt), settledAt: isoOrNull(settledAt) };
  return { ...rest, messageID: messageId, ...times };
}

export function wireNotification(stored: StoredNotification): WireNotification {
  const { id, channel, content, state, createdAt, dueAt, settledAt, attempts, reason } = stored;
  const { kind, title, taskId, at } = content;
  const times = { happenedAt: iso(at), createdAt: iso(createdAt), dueAt: iso(dueAt), settledAt: isoOrNull(settledAt) };
  return { id, channel, kind, title, taskId, state, ...times, attempts, reason };
}

export function wireTask(task: Task, textChars = Number.POSITIVE_INFINITY): BackgroundTask {
  const { run, progress } = task;
  const shortened: BackgroundTask["shortened"] = [];
  const cut = (name: "prompt" | "result" | "error", text: string) => {
    if (text.length <= textChars) return text;
    shortened.push(name);
    return beginning(text, textChars);
  };
  return {
    id: task.id,
    sessionID: task.sessionId,
    parentSessionID: task.parentSessionId || null,
    parentMessageID: task.parentMessageId || null,
    parentAgent: task.parentAgent || null,
    description: task.description,
    prompt: cut("prompt", run.prompt),
    agent: task.agent,
    model: task.model,
    status: task.status,
    phase: task.phase,
    phaseDetail: wirePhaseDetail(task.phaseDetail),
    startedAt: iso(task.startedAt),
    completedAt: isoOrNull(task.completedAt),
    resultRetrievedAt: isoOrNull(task.resultRetrievedAt),
    result: run.result === null ? null : cut("result", run.result),
    error: run.error === null ? null : cut("error", run.error),
    shortened,
    progress: {
      toolCalls: progress.toolCalls,
      toolCallsByName: progress.toolCallsByName,
      lastTools: progress.lastTools,
      lastUpdate: iso(progress.lastUpdate),
      tokens: progress.tokens,
      cost: progress.cost,
    },
    batchId: task.batchId,
    resumeCount: run.number,
    isForked: task.isForked,
    run: { number: run.number, startedAt: iso(run.startedAt), endedAt: isoOrNull(run.endedAt) },
    host: task.host,
    directory: task.directory,
    machine: task.machine || null,
    instance: task.owner,
    // Earlier versions stored the token that was in the address.
    clone: task.clone && { ...task.clone, remote: withoutCredentials(task.clone.remote) },
    after: task.after && { tasks: [...task.after.tasks], ifFailed: task.after.ifFailed },
    clearedAt: isoOrNull(task.clearedAt),
    cancelRequestedAt: isoOrNull(task.cancelRequestedAt),
  };
}

/** With its place in the queue, if it waits for a runner. */
export function withQueuePlace(task: BackgroundTask, place: QueuePlace | undefined): BackgroundTask {
  if (place === undefined) return task;
  const { machine, bound, remote, source, labels, priority, retries, waitsFor, trouble } = place;
  const commit = source?.commit ?? null;
  const queue = { machine: machine || null, bound, remote, commit, labels: [...labels], priority, retries };
  return { ...task, queue: { ...queue, waitsFor, trouble } };
}

export function wireRunner(runner: FleetRunner, now: number): ServerRunner {
  const { id, state, hostname, machine, version, hosts, labels, load, max, limits, lacks, startedAt } = runner;
  return {
    id,
    state,
    hostname,
    machine: machine || null,
    version,
    hosts: [...hosts],
    labels: [...labels],
    load,
    max,
    limits,
    lacks: [...lacks],
    startedAt: iso(startedAt),
    lastBeat: iso(now - runner.seenAgo),
  };
}

/** A task in full, with its course and the newest notice to its parent. */
export function wireDetail(
  task: Task,
  notice: Awaited<ReturnType<Overview["notice"]>>,
  { beganAt, answers }: TaskCourse,
): BackgroundTask {
  const course = { beganAt: isoOrNull(beganAt), answers: answers.map((each) => ({ ...each, at: iso(each.at) })) };
  if (notice === null) return { ...wireTask(task), ...course, notice };
  const { kind, state, attempts, reason, parentSessionId: parent } = notice;
  const times = { nextTryAt: isoOrNull(notice.nextTryAt), settledAt: isoOrNull(notice.settledAt) };
  const to = isClient(parent) ? clientText(parent) : parent;
  return { ...wireTask(task), ...course, notice: { kind, state, attempts, reason, to, ...times } };
}

function wirePhaseDetail(detail: PhaseDetail | null): BackgroundTask["phaseDetail"] {
  switch (detail?.kind) {
    case "waiting": {
      const { at, seen, policy, ...rest } = detail;
      return {
        ...rest,
        ...(at !== undefined && { at: iso(at) }),
        ...(seen && { seen: [...seen] }),
        ...(policy && { policy: { ...policy, until: iso(policy.until) } }),
      };
    }
    case "blocked":
      return { ...detail, at: iso(detail.at) };
    case "answered": {
      const { at, appliedAt, ...rest } = detail;
      return { ...rest, at: iso(at), ...(appliedAt !== undefined && { appliedAt: iso(appliedAt) }) };
    }
    case "retrying": {
      const { next, until, ...rest } = detail;
      return {
        ...rest,
        ...(next !== undefined && { next: iso(next) }),
        ...(until !== undefined && { until: iso(until) }),
      };
    }
    case "paused":
      return { ...detail, until: iso(detail.until) };
    default:
      return detail;
  }
}

export function wireRun(
  run: Pick<Run, "number" | "prompt" | "startedAt" | "endedAt" | "outcome" | "error">,
  taskId: string,
): BackgroundTaskRun {
  return {
    taskId,
    number: run.number,
    prompt: beginning(run.prompt, RUN_CHARS),
    startedAt: iso(run.startedAt),
    endedAt: isoOrNull(run.endedAt),
    outcome: run.outcome,
    error: run.error === null ? null : beginning(run.error, RUN_CHARS),
  };
}

type RunSpans = Awaited<ReturnType<Overview["spans"]>>[number];

export function wireSpans({ taskId, run, startedAt, spans }: RunSpans): TimelineRun {
  return {
    taskId,
    run,
    startedAt: iso(startedAt),
    spans: spans.map(({ from, to, ...span }) => ({
      ...span,
      at: Math.max(0, from - startedAt),
      ms: to === null ? null : Math.max(0, to - from),
    })),
  };
}

export function wireGroup(group: Group, now: number): TaskGroup {
  const { byStatus, total, startedAt, endedAt } = group;
  return {
    id: group.id,
    tasks: group.tasks.map((task) => wireTask(task, TEXT_CHARS)),
    runs: group.runs.map((run) => wireRun(run, run.taskId)),
    truncated: group.truncated,
    completed: byStatus.completed,
    running: byStatus.running + byStatus.resumed,
    error: byStatus.error,
    cancelled: byStatus.cancelled,
    total,
    completionRate: byStatus.completed / total,
    totalToolCalls: group.toolCalls,
    tokens: group.tokens,
    cost: group.cost,
    startedAt: iso(startedAt),
    endedAt: isoOrNull(endedAt),
    duration: Math.max(0, (endedAt ?? now) - startedAt),
  };
}

export function wireInboxEntry({ task, approval, since, text, answers, seen, ...entry }: InboxEntry): WireInboxEntry {
  const policy = (task?.phaseDetail?.kind === "waiting" && task.phaseDetail.policy) || null;
  return {
    id: entry.id,
    kind: entry.kind,
    since: iso(since),
    text: beginning(text, INBOX_CHARS),
    isShortened: text.length > INBOX_CHARS,
    answers: [...answers],
    taskId: task?.id ?? null,
    requestId: entry.requestId,
    approvalId: approval?.id ?? null,
    budgetId: entry.budget?.id ?? null,
    description: task?.description ?? approval?.askedBy ?? entry.subject ?? "",
    agent: task?.agent ?? null,
    host: task?.host ?? null,
    directory: task?.directory ?? approval?.directory ?? "",
    machine: task?.machine ?? "",
    parentSessionID: task?.parentSessionId || null,
    seen: [...seen],
    policy: policy && { ...policy, until: iso(policy.until) },
  };
}

export function wireSnapshot(tasks: TaskSnapshot["tasks"], total: number, figures: Figures): TaskSnapshot {
  return { tasks, total, truncated: tasks.length < total, stats: figures };
}

export function wireMessage(message: Message): LogMessage {
  return {
    ...message,
    at: iso(message.at),
    endedAt: isoOrNull(message.endedAt),
    parts: message.parts.map(wirePart),
  };
}

function wirePart(part: MessagePart): LogPart {
  if (part.type !== "tool") return part;
  return { ...part, startedAt: isoOrNull(part.startedAt), endedAt: isoOrNull(part.endedAt) };
}

/** The first characters of a text, without splitting a surrogate pair. */
function beginning(text: string, chars: number): string {
  const cut = text.slice(0, chars);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

/** Clamped: an impossible time must not make a whole list unreadable. */
export function iso(time: number): string {
  return new Date(Math.min(Math.max(time, FIRST_TIME), LAST_TIME)).toISOString();
}

export function isoOrNull(time: number | null): string | null {
  return time === null ? null : iso(time);
}
