/**
 * A task as the panel shows it: few fields, and texts that are safe on one line of a screen. Also what it is called:
 * its mark, its state, how long it took. Pure: the current time is passed in.
 */
import { isLive } from "../model/task.ts";
import { asLine } from "../model/text/foreign-text.ts";
import { markHidden } from "../model/text/hidden-characters.ts";
import type { BackgroundTask } from "../protocol/tasks.ts";

const LINE = 200;
const TOOL = 40;
const TAB_COLUMNS = 8;
/** Code units that one column may take: an emoji of a family has eleven. */
const LONGEST_CHARACTER = 12;

/** What a person has to decide. */
export interface Request {
  kind: "permission" | "question" | "blocked";
  /** Empty for a task that is blocked by another one. */
  id: string;
  /** The whole text, with line breaks. */
  text: string;
  since: number;
}

export interface PanelTask {
  id: string;
  /** Empty while the task waits to be started. */
  sessionId: string;
  /** Empty if a person launched it. */
  parentSessionId: string;
  description: string;
  /** Empty if none was named, and the host's own has not begun. */
  agent: string;
  host: string;
  directory: string;
  /** The directory on one line. */
  place: string;
  isLive: boolean;
  status: BackgroundTask["status"];
  /** What a live task is doing, in a few words. */
  state: string;
  request: Request | null;
  lastTool: string;
  calls: number;
  runStartedAt: number;
  /** Null while it is live. */
  endedAt: number | null;
  /** Why it failed or was cancelled; empty if it did not say. */
  error: string;
}

export type Tone = "attention" | "working" | "still" | "good" | "bad" | "quiet";

export function panelTask(task: BackgroundTask): PanelTask {
  const isGoing = isLive(task.status);
  const endedAt = task.run.endedAt ?? task.completedAt;
  return {
    id: task.id,
    sessionId: task.sessionID,
    parentSessionId: task.parentSessionID ?? "",
    description: asLine(task.description, LINE) || "(no description)",
    agent: asLine(task.agent, TOOL),
    host: task.host,
    directory: task.directory,
    place: asLine(task.directory, LINE),
    isLive: isGoing,
    status: task.status,
    state: stateOf(task),
    request: isGoing ? requestOf(task) : null,
    lastTool: asLine(task.progress.lastTools.at(-1) ?? "", TOOL),
    calls: task.progress.toolCalls,
    runStartedAt: Date.parse(task.run.startedAt),
    endedAt: isGoing ? null : Date.parse(endedAt ?? task.startedAt),
    error: asLine(task.error ?? "", LINE),
  };
}

function requestOf({ phaseDetail: detail, progress }: BackgroundTask): Request | null {
  if (detail?.kind === "blocked") {
    return { kind: "blocked", id: "", text: markHidden(detail.text), since: Date.parse(detail.at) };
  }
  if (detail?.kind !== "waiting") return null;
  const since = Date.parse(detail.at ?? progress.lastUpdate);
  return { kind: detail.asks, id: detail.requestId, text: markHidden(detail.text), since };
}

function stateOf({ status, phase, phaseDetail: detail, cancelRequestedAt }: BackgroundTask): string {
  if (!isLive(status)) return status === "error" ? "failed" : status;
  if (cancelRequestedAt !== null) return "cancelling";
  if (detail?.kind === "blocked") return "cannot start";
  if (detail?.kind === "waiting") return detail.asks === "permission" ? "needs permission" : "asks";
  if (detail?.kind === "after") return "starts after others";
  if (detail?.kind === "retrying") return `retrying (${detail.count})`;
  if (detail?.kind === "paused") return detail.cause === "quota" ? `paused until ${clock(detail.until)}` : "restarting";
  return phase ?? "working";
}

/** Nothing runs it yet: whoever looks at it wants to know why. */
export function awaitsRunner(task: PanelTask): boolean {
  return task.isLive && task.sessionId === "";
}

export function needsYou(task: PanelTask): boolean {
  return task.request !== null;
}

const STILL = new Set(["queued", "starting", "stalled", "starts after others", "cancelling", "restarting"]);

export function toneOf(task: PanelTask): Tone {
  if (task.request) return "attention";
  if (!task.isLive) return task.status === "completed" ? "good" : task.status === "error" ? "bad" : "quiet";
  return STILL.has(task.state) || task.state !== "working" ? "still" : "working";
}

const MARKS: Record<Tone, string> = {
  attention: "?",
  working: "●",
  still: "◌",
  good: "✓",
  bad: "✗",
  quiet: "−",
};

export function markOf(task: PanelTask): string {
  return MARKS[toneOf(task)];
}

/** What is asked; what it does; or why it failed. */
export function detailOf(task: PanelTask): string {
  if (task.request) {
    const asked = asLine(task.request.text, LINE);
    return task.request.kind === "permission" ? `allow: ${asked}` : asked;
  }
  if (!task.isLive) return task.error || workOf(task);
  return [task.agent, ...(task.state === "working" ? [] : [task.state]), workOf(task)].filter(Boolean).join(" · ");
}

/** The last tool and the number of calls; empty if there were none. */
export function workOf({ lastTool, calls }: PanelTask): string {
  return [lastTool, calls === 0 ? "" : counted(calls, "call")].filter(Boolean).join(" · ");
}

/** How long it waits for a person, or how long its newest run takes or took. */
export function timeOf(task: PanelTask, now: number): string {
  return durationText((task.endedAt ?? now) - (task.request?.since ?? task.runStartedAt));
}

/** "3 tasks · 2 need you"; empty if nothing is live. */
export function countText(tasks: readonly PanelTask[]): string {
  const live = tasks.filter((task) => task.isLive).length;
  const needing = tasks.filter(needsYou).length;
  if (live === 0) return "";
  const needs = needing === 0 ? [] : [`${needing} ${needing === 1 ? "needs" : "need"} you`];
  return [counted(live, "task"), ...needs].join(" · ");
}

/** The rows of a text that fit, with an ellipsis; null if all of it fits. Wide characters take two columns. */
export function beginning(text: string, { columns, rows }: { columns: number; rows: number }): string | null {
  const shown: string[] = [];
  let left = rows;
  for (const line of text.split("\n")) {
    const needed = Math.max(1, Math.ceil(widthOf(line) / columns));
    if (needed > left) {
      if (left > 0) shown.push(cutTo(line, left * columns));
      return `${shown.join("\n")} …`;
    }
    shown.push(line);
    left -= needed;
  }
  return null;
}

/** As much of the line as fits, in whole characters. */
function cutTo(line: string, columns: number): string {
  let width = 0;
  let end = 0;
  for (const { segment } of new Intl.Segmenter().segment(line.slice(0, columns * LONGEST_CHARACTER))) {
    width += widthOf(segment);
    if (width > columns) break;
    end += segment.length;
  }
  return line.slice(0, end);
}

/** At least what the screen needs: it shows a tab as several columns. */
function widthOf(text: string): number {
  return Bun.stringWidth(text) + TAB_COLUMNS * (text.split("\t").length - 1);
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** "14s", "2m05", "1h02", "3d4h": short, and of a steady width while it ticks. */
function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h${two(Math.floor((seconds % 3600) / 60))}`;
  return `${Math.floor(seconds / 86_400)}d${Math.floor((seconds % 86_400) / 3600)}h`;
}

function clock(time: string): string {
  const moment = new Date(time);
  return `${String(moment.getHours()).padStart(2, "0")}:${String(moment.getMinutes()).padStart(2, "0")}`;
}
