/**
 * The text of a notice: a visible part for the user and a hidden one for the model. Pure. The texts of outcomes and
 * hints are promised to users word for word; a task's output is bounded and framed, so that it cannot pass for our
 * own words.
 */
import type { NoticeText, NoticeView } from "../engine/context.ts";
import { isSkipped } from "../model/after.ts";
import { shorten } from "../model/condense.ts";
import { runDuration } from "../model/task.ts";
import { asLine, framed, type NewMark } from "../model/text/foreign-text.ts";
import { durationText } from "./duration.ts";

interface NoticeWording {
  toolPrefix: string;
  resultChars: number;
  development: boolean;
  now: number;
  newMark: NewMark;
}

/** All results in one message together are at most this many times the limit of a single one. */
const RESULTS = 4;
const DESCRIPTION = 500;
const REASON = 500;
const ERROR = 2000;

export function wordNotices(views: readonly NoticeView[], wording: NoticeWording): NoticeText {
  const visible = views.map((view) => `${headline(view, wording.now)}\n${progressLine(view)}`);
  if (wording.development) visible.push("[hint attached]");
  const share = Math.min(wording.resultChars, Math.floor((RESULTS * wording.resultChars) / Math.max(1, views.length)));
  const hidden = [...hints(views, wording.toolPrefix), ...views.map((view) => body(view, share, wording))];
  return { visible: visible.join("\n"), hidden: hidden.filter((text) => text !== "").join("\n") };
}

function headline({ notice, task, run }: NoticeView, now: number): string {
  const duration = durationText(runDuration({ run }, now));
  const description = asLine(task.description, DESCRIPTION);
  if (notice.kind === "waiting") {
    const isBlocked = notice.topic.startsWith("blocked:");
    return isBlocked ? `⏸ **Agent "${description}" cannot start.**` : `⏸ **Agent "${description}" needs an answer.**`;
  }
  const isPause = notice.topic.startsWith("paused:");
  if (notice.kind === "retrying")
    return isPause
      ? `⏸ **Agent "${description}" waits for its provider.**`
      : `↻ **Agent "${description}" keeps failing at its provider.**`;
  if (notice.kind === "stalled")
    return isPause
      ? `↻ **Agent "${description}" showed no sign of work and is restarted.**`
      : `⏳ **Agent "${description}" shows no sign of work.**`;
  if (isSkipped({ ...task, run })) return `⊘ **Agent "${description}" was not run.**`;
  if (notice.kind === "budget") return `⚠ **${asLine(notice.topic, REASON)}.**`;
  if (run.outcome === "cancelled") return `⊘ **Agent "${description}" cancelled after ${duration}.**`;
  const failed = run.outcome === "error";
  if (run.number > 0) {
    return failed
      ? `✗ **Resume #${run.number} failed in ${duration}.**`
      : `✓ **Resume #${run.number} completed in ${duration}.**`;
  }
  return failed
    ? `✗ **Agent "${description}" failed in ${duration}.**`
    : `✓ **Agent "${description}" finished in ${duration}.**`;
}

function progressLine({ notice }: NoticeView): string {
  return `Task Progress: ${notice.batchEnded}/${notice.batchTotal}`;
}

/**
 * The hints of each task whose batch is still running, and the all-done hint once per batch that is not. Notices are
 * sent in the order the tasks ended, so the one written when its batch had no live task left is the last.
 */
function hints(views: readonly NoticeView[], prefix: string): string[] {
  const lines: string[] = [];
  const ends = views.filter(({ notice }) => notice.kind === "ended");
  const done = new Map(
    ends.filter(({ notice }) => notice.batchLive === 0).map(({ task, notice }) => [task.batchId, notice]),
  );
  for (const { task } of ends) {
    if (done.has(task.batchId)) continue;
    lines.push(
      `If you need results immediately, use ${prefix}_output(task_id="${task.id}").`,
      "You can continue working or just say 'waiting' and halt.",
      "WATCH OUT for leftovers, you will likely WANT to wait for all agents to complete.",
    );
  }
  for (const { batchTotal } of done.values()) {
    lines.push(`All ${batchTotal} tasks finished.`, `Use ${prefix}_output tools to see agent responses.`);
  }
  return lines;
}

/** What a task changed in its worktree is told however it ended. */
function body(view: NoticeView, limit: number, wording: NoticeWording): string {
  const { changes } = view;
  return [bodyOf(view, limit, wording), ...(changes === undefined ? [] : [changes])].join("\n");
}

function bodyOf(view: NoticeView, limit: number, { toolPrefix: prefix, newMark }: NoticeWording): string {
  const { notice, task, run } = view;
  const { id } = task;
  const output = `${prefix}_output(task_id="${id}")`;
  if (notice.kind === "waiting") {
    if (notice.topic.startsWith("blocked:")) return blocked(view, prefix);
    const asked = task.phaseDetail?.kind === "waiting" ? task.phaseDetail : null;
    const stands = `Task ${id} stands still until a person answers in its session.`;
    if (asked === null) return `${stands} It was answered meanwhile. Tell the user; you cannot answer it.`;
    const what = framed(`${asked.asks} of task ${id}`, shorten(asked.text, REASON), newMark);
    return `${stands} Tell the user; you cannot answer it. It asks (${asked.asks}):\n${what}`;
  }
  if (notice.topic.startsWith("paused:")) {
    const { phaseDetail: paused } = task;
    const goesOn = `Task ${id} goes on by itself; you need not do anything. ${prefix}_cancel(task_id="${id}") ends it.`;
    if (paused?.kind !== "paused") return `${goesOn} It goes on already, or has ended meanwhile.`;
    const reason = framed(`reason of task ${id}`, shorten(paused.reason, REASON), newMark);
    return `${goesOn} It waits until ${new Date(paused.until).toISOString()}:\n${reason}`;
  }
  if (notice.kind === "retrying") {
    const retry = task.phaseDetail?.kind === "retrying" ? task.phaseDetail : null;
    const goesOn = `Task ${id} goes on trying. ${prefix}_cancel(task_id="${id}") ends it.`;
    if (retry === null) return `${goesOn} It works again.`;
    return `${goesOn} Attempt ${retry.count}:\n${framed(`reason of task ${id}`, shorten(retry.reason, REASON), newMark)}`;
  }
  if (notice.kind === "stalled") {
    if (task.phase !== "stalled")
      return `Nothing was seen of task ${id} for a while; it goes on, or has ended meanwhile.`;
    return `Nothing was seen of task ${id} for a while; it may be in a long command, or hang. ${output} shows how it stands, ${prefix}_cancel(task_id="${id}") ends it.`;
  }
  if (isSkipped({ ...task, run })) return `Task ${id}: ${asLine(run.error ?? "", REASON)} It has no result.`;
  if (notice.kind === "budget")
    return "When it is used up, all tasks in it are stopped, with their work kept. Only a person can raise it.";
  if (run.outcome === "cancelled")
    return `Task ${id} was cancelled: ${asLine(run.error ?? "no reason given", REASON)}. It has no result.`;
  if (run.outcome === "error") {
    const error = framed(`error of task ${id}`, shorten(run.error ?? "unknown", ERROR), newMark);
    return `${error}\nIts work may be incomplete: check before you rely on it.`;
  }
  const result = run.result ?? "";
  if (result === "") return `Task ${id} completed without a text of its own; its work is in its tool calls.`;
  const rest = result.length - limit;
  const more = rest > 0 ? `\n(${rest} more characters: ${output})` : "";
  return `${framed(`result of task ${id}`, result.slice(0, limit), newMark)}${more}`;
}

/** It waits for a task that did not complete. */
function blocked({ task }: NoticeView, prefix: string): string {
  const { id, phaseDetail: detail } = task;
  if (detail?.kind !== "blocked") return `Task ${id} could not start for a while; it goes on, or has ended meanwhile.`;
  const advice = `It starts when that one is resumed and completes, or a person decides. ${prefix}_cancel(task_id="${id}") ends it.`;
  return `Task ${id} waits. ${asLine(detail.text, REASON)} ${advice}`;
}
