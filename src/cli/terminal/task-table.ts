/** How a task looks in a terminal: its row, its state in one word, its details. Pure. */

import { isLive } from "../../model/task.ts";
import { changesText } from "../../model/text/task-changes.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Paint } from "./paint.ts";
import type { Column } from "./table.ts";
import { listed, localTime, longDuration, momentText, oneLine, quantity, shortDuration, shortId } from "./text.ts";

const MARKS: Record<BackgroundTask["status"], string> = {
  running: "●",
  resumed: "●",
  completed: "✓",
  error: "✗",
  cancelled: "−",
};

/** How a sentence about an ended task continues, if not like "completed in". */
const ENDED: Partial<Record<BackgroundTask["status"], string>> = {
  error: "failed after",
  cancelled: "cancelled after",
};

/** A shorter wait is not worth a line. */
const LEAST_WAIT_MS = 1000;

/** Below this width, what a task is about matters more than where it runs. */
const NARROW = 100;

export function taskTableColumns(paint: Paint, now: number, width: number, hasCost = false): Column<BackgroundTask>[] {
  const columns: (Column<BackgroundTask> & { wideOnly?: boolean })[] = [
    { title: "ID", cell: ({ id }) => shortId(id) },
    {
      title: "STATUS",
      cell: (task) => `${MARKS[task.status]} ${taskState(task)}`,
      paint: (text, task) => painted(text, task, paint),
    },
    { title: "HOST", cell: ({ host }) => host, wideOnly: true },
    { title: "AGENT", cell: ({ agent }) => agent, least: 7 },
    { title: "AGE", cell: ({ startedAt }) => shortDuration(now - Date.parse(startedAt)), right: true },
    { title: "TOOK", cell: (task) => longDuration(tookOf(task, now)), right: true },
    ...(hasCost
      ? [{ title: "COST", cell: ({ progress }: BackgroundTask) => `$${progress.cost.toFixed(4)}`, right: true }]
      : []),
    { title: "TOOLS", cell: ({ progress }) => String(progress.toolCalls), right: true, wideOnly: true },
    { title: "DESCRIPTION", cell: (task) => describedWith(task, now), least: 12 },
  ];
  return columns.filter(({ wideOnly }) => !wideOnly || width >= NARROW);
}

/** The description; with the reason for a task that is retrying, or waits for its provider or a runner. */
function describedWith(task: BackgroundTask, now: number): string {
  const reason = isLive(task.status) ? reasonOf(task, now) : null;
  if (reason === null) return task.description;
  // Reasons to wait are long, and many tasks wait for the same one: they must not hide which task it is.
  const hasNotStarted = task.queue !== undefined || task.phaseDetail?.kind === "after";
  return hasNotStarted ? `${task.description} (${reason})` : `${reason}: ${task.description}`;
}

/** The status, or what a live task is doing if that says more. */
export function taskState({ status, phase, phaseDetail }: BackgroundTask): string {
  if (!isLive(status)) return status;
  if (phaseDetail?.kind === "blocked") return "blocked";
  if (phaseDetail?.kind === "waiting") return phaseDetail.asks === "permission" ? "permission?" : "question?";
  return phase === null || phase === "working" ? status : phase;
}

/** The reason for the state, if there is one: why it failed, was cancelled, is retrying, or what it waits for. */
export function reasonOf(task: BackgroundTask, now: number): string | null {
  const { status, phaseDetail: detail, error, queue, after } = task;
  if (!isLive(status)) return status === "completed" ? null : (error?.trim() ?? null);
  if (detail?.kind === "after") return `after ${listed((after?.tasks ?? []).map(shortId))}`;
  if (detail?.kind === "blocked") return detail.text;
  if (queue) return queue.waitsFor;
  if (detail?.kind === "paused") {
    if (detail.cause === "stall") return `restarted, ${detail.reason}`;
    return `waiting until ${momentText(detail.until, now)} (quota), ${detail.reason}`;
  }
  if (detail?.kind !== "retrying") return null;
  const next = detail.next === undefined ? "" : `, next at ${momentText(detail.next, now)}`;
  return `${detail.reason} (${quantity(detail.count, "try")}${next})`;
}

/** The reasons of live tasks that the lines of their table had no room for, each with the tasks that it is for. */
export function lostReasons(tasks: readonly BackgroundTask[], lines: readonly string[], now: number): string[] {
  const lost = new Map<string, string[]>();
  for (const [index, task] of tasks.entries()) {
    const reason = isLive(task.status) ? oneLine(reasonOf(task, now) ?? "") : "";
    if (!lines[index]?.includes(reason)) lost.set(reason, [...(lost.get(reason) ?? []), task.id]);
  }
  return [...lost].map(([reason, ids]) => `${listed(ids.map(shortId))}: ${reason}`);
}

function painted(text: string, task: BackgroundTask, paint: Paint): string {
  if (task.status === "completed") return paint.green(text);
  if (task.status === "error") return paint.red(text);
  if (task.status === "cancelled") return paint.dim(text);
  const isStill = task.phase === "waiting" || task.phase === "stalled" || task.phase === "paused";
  return isStill ? paint.yellow(text) : paint.blue(text);
}

function tookOf({ run }: BackgroundTask, now: number): number {
  return Math.max(0, (run.endedAt === null ? now : Date.parse(run.endedAt)) - Date.parse(run.startedAt));
}

/** Whether a runner has begun it before: what it did then still counts. */
function hasTried({ queue, progress, run }: BackgroundTask): boolean {
  return queue !== undefined && Date.parse(progress.lastUpdate) > Date.parse(run.startedAt);
}

/** How long it waited to begin, and how long it has worked. An older daemon does not say when it began. */
function durationFields(task: BackgroundTask, now: number): [string, string][] {
  const { beganAt, run } = task;
  const since = Date.parse(run.startedAt);
  const end = run.endedAt === null ? now : Date.parse(run.endedAt);
  if (beganAt === null && hasTried(task)) {
    const left = quantity(task.queue?.retries ?? 0, "retry");
    return [["waited", `an earlier try was interrupted; it waits to begin again (${left} left)`]];
  }
  if (beganAt === null) {
    const begins = run.endedAt === null ? "it has not begun" : "it did not begin";
    return [["waited", `${longDuration(Math.max(0, end - since))}; ${begins}`]];
  }
  const began = beganAt === undefined ? since : Date.parse(beganAt);
  const waited = began - since;
  return [
    ...(waited < LEAST_WAIT_MS ? [] : [["waited", `${longDuration(waited)} before it began`] as [string, string]]),
    ["took", longDuration(Math.max(0, end - began))],
  ];
}

/** `✓ "Count the files" completed in 3s`, for a task that has ended or is stuck. */
export function taskSentence(task: BackgroundTask, paint: Paint, now: number): string {
  const took = longDuration(tookOf(task, now));
  const state = isLive(task.status)
    ? `${taskState(task)} for ${took}`
    : `${ENDED[task.status] ?? `${task.status} in`} ${took}`;
  return `${painted(MARKS[task.status], task, paint)} "${oneLine(task.description)}" ${state}  ${paint.dim(task.id)}`;
}

/** The sentence, and below it the reason for the state, if there is one. */
export function outcomeText(task: BackgroundTask, paint: Paint, now: number): string {
  const reason = reasonOf(task, now);
  return [taskSentence(task, paint, now), ...(reason === null ? [] : reason.split("\n"))].join("\n  ");
}

/** That a task is retrying or paused, and why; null if it is not. */
export function retryHint({ status, phaseDetail: detail, description }: BackgroundTask, now: number): string | null {
  if (!isLive(status)) return null;
  const name = `"${oneLine(description)}"`;
  if (detail?.kind === "retrying") return `${name} is retrying: ${oneLine(detail.reason)}`;
  if (detail?.kind !== "paused") return null;
  const what = detail.cause === "stall" ? "is restarted" : `waits until ${momentText(detail.until, now)} (quota)`;
  return `${name} ${what}: ${oneLine(detail.reason)}`;
}

/** What a person has to do for a task that asks something; null if it does not. */
export function askedHint(task: BackgroundTask): string | null {
  if (task.phaseDetail?.kind === "blocked") return blockedHint(task, task.phaseDetail);
  if (task.phaseDetail?.kind !== "waiting") return null;
  const { asks, text, requestId } = task.phaseDetail;
  const answer = asks === "permission" ? "--once | --always | --reject" : '"your answer"';
  const what = asks === "permission" ? "a permission" : "an answer";
  return `"${oneLine(task.description)}" asks for ${what}: ${oneLine(text)}\n  asyncagents answer ${shortId(task.id)} --request ${shortId(requestId)} ${answer}`;
}

function blockedHint({ id, description }: BackgroundTask, { by, text }: { by: string; text: string }): string {
  const choices = [
    `asyncagents resume ${shortId(by)} "prompt"`,
    `asyncagents edit ${shortId(id)} --if-failed run_anyway`,
    `asyncagents cancel ${shortId(id)}`,
  ];
  return `"${oneLine(description)}" cannot start. ${oneLine(text)} Do one of these:\n  ${choices.join("\n  ")}`;
}

/** Whether the parent was notified; null if nobody is to be notified. */
function toldText({ notice, parentSessionID }: BackgroundTask): string | null {
  if (!notice) return null;
  // An older daemon does not say who.
  if (notice.state === "delivered") return parentSessionID === null ? `yes, ${oneLine(notice.to ?? "-")}` : "yes";
  const why = notice.reason === null ? "" : `: ${oneLine(notice.reason)}`;
  if (notice.state === "dropped") return `no, dropped${why}`;
  const next = notice.nextTryAt === null ? "" : `; next try ${localTime(notice.nextTryAt)}`;
  return `not yet, ${quantity(notice.attempts, "attempt")}${why}${next}`;
}

/** What a person can do about a parent that was not notified; null if it was. */
export function toldHint({ id, notice }: BackgroundTask): string | null {
  if (!notice || notice.reason === null || notice.state === "delivered") return null;
  return `Its parent was not notified. Try again: asyncagents tell ${shortId(id)}`;
}

/** Why the last runner that tried could not begin it, if nothing else says so. */
function triedField({ queue }: BackgroundTask): [string, string][] {
  if (!queue?.trouble || queue.waitsFor?.includes(queue.trouble)) return [];
  return [["tried", queue.trouble]];
}

/** Where it is, or can be, if there are several machines. */
function placeFields({ clone, queue, machine }: BackgroundTask, names: MachineNames): [string, string][] {
  const named = (id: string | null) => (id !== null && names.has(id) ? `${names.get(id)} (${id})` : `${id}`);
  if (clone && !queue)
    return [["clone", `on ${clone.hostname} (${machine}), branch ${clone.branch}, of ${clone.remote}`]];
  if (machine) return [["machine", named(machine)]];
  if (!queue) return [];
  if (queue.remote) return [["machine", `any: runners clone ${queue.remote} at ${queue.commit?.slice(0, 12)}`]];
  return queue.bound ? [["machine", `${named(queue.machine)} only: ${queue.bound}`]] : [];
}

/** The names of machines for people, by their identities. */
type MachineNames = ReadonlyMap<string, string>;

export function taskFields(
  task: BackgroundTask,
  paint: Paint,
  now: number,
  names: MachineNames = new Map(),
): (readonly [string, string])[] {
  const { progress } = task;
  const because = reasonOf(task, now);
  const fields: [string, string][] = [
    ["id", task.id],
    ...(task.sessionID === "" || task.sessionID === task.id ? [] : [["session", task.sessionID] as [string, string]]),
    ["batch", task.batchId],
    ["status", painted(`${MARKS[task.status]} ${taskState(task)}`, task, paint)],
    ...(isLive(task.status) && because !== null ? [["because", because] as [string, string]] : []),
    ["about", oneLine(task.description)],
    ["agent", `${task.agent || "default"} on ${task.host}${task.model ? ` (${task.model})` : ""}`],
    ["directory", task.directory],
    ...placeFields(task, names),
    ...triedField(task),
    ["started", `${localTime(task.startedAt)} (${shortDuration(now - Date.parse(task.startedAt))} ago)`],
    ...durationFields(task, now),
    [
      "tools",
      `${progress.toolCalls}${progress.lastTools.length > 0 ? ` (last: ${progress.lastTools.join(", ")})` : ""}`,
    ],
    [
      "tokens",
      `${progress.tokens.input} in, ${progress.tokens.output} out${progress.cost > 0 ? `, $${progress.cost.toFixed(4)}` : ""}`,
    ],
  ];
  if (task.after) fields.push(["after", `${task.after.tasks.join(", ")} (if one fails: ${task.after.ifFailed})`]);
  if (task.parentSessionID) fields.push(["parent", task.parentSessionID]);
  const told = toldText(task);
  if (told) fields.push(["told", told]);
  if (task.resumeCount > 0) fields.push(["resumed", quantity(task.resumeCount, "time")]);
  if (task.isForked) fields.push(["forked", "yes"]);
  fields.push(["prompt", task.prompt.trim()]);
  if (task.error)
    fields.push(task.status === "error" ? ["error", paint.red(task.error.trim())] : ["because", task.error.trim()]);
  if (task.result) fields.push(["result", task.result.trim()]);
  if (task.changes) fields.push(["worktree", changesText(task.changes)]);
  return fields;
}
