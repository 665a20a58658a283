/**
 * The words of a notice: a visible part for the person and a hidden one for the model. Pure. Texts of ends and hints
 * are promised to users word for word; what a task wrote is bounded and marked as its words, never mixed with ours.
 */
import type { NoticeText, NoticeView } from "../engine/context.ts";
import { shorten } from "../model/condense.ts";
import { runDuration } from "../model/task.ts";
import { durationText } from "./duration.ts";

export interface NoticeWording {
  toolPrefix: string;
  resultChars: number;
  development: boolean;
  now: number;
}

/** All results of one message together take at most this many times the bound of a single one. */
const RESULTS = 4;

export function wordNotices(views: readonly NoticeView[], wording: NoticeWording): NoticeText {
  const visible = views.map((view) => `${headline(view, wording.now)}\n${progressLine(view)}`);
  if (wording.development) visible.push("[hint attached]");
  const share = Math.min(wording.resultChars, Math.floor((RESULTS * wording.resultChars) / Math.max(1, views.length)));
  const hidden = [...hints(views, wording.toolPrefix), ...views.map((view) => body(view, share, wording.toolPrefix))];
  return { visible: visible.join("\n"), hidden: hidden.filter((text) => text !== "").join("\n") };
}

function headline({ notice, task, run }: NoticeView, now: number): string {
  const duration = durationText(runDuration({ run }, now));
  if (notice.kind === "waiting") return `⏸ **Agent "${task.description}" needs an answer.**`;
  if (notice.kind === "retrying") return `↻ **Agent "${task.description}" keeps failing at its provider.**`;
  if (notice.kind === "stalled") return `⏳ **Agent "${task.description}" shows no sign of work.**`;
  if (run.outcome === "cancelled") return `⊘ **Agent "${task.description}" cancelled after ${duration}.**`;
  const failed = run.outcome === "error";
  if (run.number > 0) {
    return failed
      ? `✗ **Resume #${run.number} failed in ${duration}.**`
      : `✓ **Resume #${run.number} completed in ${duration}.**`;
  }
  return failed
    ? `✗ **Agent "${task.description}" failed in ${duration}.**`
    : `✓ **Agent "${task.description}" finished in ${duration}.**`;
}

function progressLine({ notice }: NoticeView): string {
  return `Task Progress: ${notice.batchEnded}/${notice.batchTotal}`;
}

/**
 * The hints of each task whose batch still works, and the all-done hint once for each batch that does not. Notices go
 * out in the order of the ends, so the one that was written when nothing of its batch lived any more is the last.
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

function body(view: NoticeView, limit: number, prefix: string): string {
  const { notice, task, run } = view;
  const output = `${prefix}_output(task_id="${task.id}")`;
  if (notice.kind === "waiting") {
    const asked = task.phaseDetail?.kind === "waiting" ? task.phaseDetail : null;
    const what = asked ? `It asks (${asked.asks}): ${shorten(asked.text, 500)}` : `It was answered meanwhile.`;
    return `Task ${task.id} stands still until a person answers in its session. ${what} Tell the user; you cannot answer it.`;
  }
  if (notice.kind === "retrying") {
    const retry = task.phaseDetail?.kind === "retrying" ? task.phaseDetail : null;
    const what = retry ? `Attempt ${retry.count}: ${shorten(retry.reason, 500)}` : "It works again.";
    return `Task ${task.id} goes on trying. ${what} ${prefix}_cancel(task_id="${task.id}") ends it.`;
  }
  if (notice.kind === "stalled") {
    if (task.phase !== "stalled")
      return `Nothing was seen of task ${task.id} for a while; it goes on, or has ended meanwhile.`;
    return `Nothing was seen of task ${task.id} for a while; it may be in a long command, or hang. ${output} shows how it stands, ${prefix}_cancel(task_id="${task.id}") ends it.`;
  }
  if (run.outcome === "cancelled")
    return `Task ${task.id} was cancelled: ${run.error ?? "no reason given"}. It has no result.`;
  if (run.outcome === "error") {
    return `Error of task ${task.id}: ${shorten(run.error ?? "unknown", 2000)}\nIts work may be incomplete: check before you rely on it.`;
  }
  return resultText(task.id, run.result ?? "", limit, output);
}

function resultText(id: string, result: string, limit: number, output: string): string {
  if (result === "") return `Task ${id} completed without a text of its own; its work is in its tool calls.`;
  const shown = result.slice(0, limit);
  const rest = result.length - shown.length;
  const more = rest > 0 ? `\n(${rest} more characters: ${output})` : "";
  return `--- result of task ${id} ---\n${shown}\n--- end of result ---${more}`;
}
