/**
 * The text of the tools' answers: a task in a list, a task in detail, a long text in pages. Pure; written for a
 * model, so short and without decoration. Text from a task or its provider is reduced to one line, or framed.
 */

import { isLive, runDuration, type Task } from "../model/task.ts";
import { asLine, framed, type NewMark } from "../model/text/foreign-text.ts";
import { durationText } from "./duration.ts";

/** The size of one page of a result, in bytes. */
const PAGE_BYTES = 16_000;
const DETAIL = 500;
const NAME = 100;

export function listLine(task: Task, now: number): string {
  const marks = `${task.run.number > 0 ? " (resumed)" : ""}${task.isForked ? " (forked)" : ""}`;
  const fields = [
    `${task.id}${marks}`,
    stateText(task),
    durationText(runDuration(task, now)),
    `${asLine(task.agent, NAME)}: "${asLine(task.description, DETAIL)}"`,
    toolsText(task),
    `batch ${task.batchId}`,
  ];
  return `- ${fields.join(" | ")}`;
}

export function stateText(task: Task): string {
  if (!isLive(task.status)) return task.status;
  const detail = task.phaseDetail;
  if (detail?.kind === "waiting")
    return `${task.status}, waiting for an answer to a ${detail.asks}: ${asLine(detail.text, DETAIL)}`;
  if (detail?.kind === "retrying")
    return `${task.status}, retrying (attempt ${detail.count}): ${asLine(detail.reason, DETAIL)}`;
  if (detail?.kind === "after") return `${task.status}, starts after ${task.after?.tasks.join(", ")}`;
  if (detail?.kind === "blocked") return `${task.status}, waiting for a person: ${asLine(detail.text, DETAIL)}`;
  if (detail?.kind === "paused") {
    const until = `waiting until ${new Date(detail.until).toISOString()} (${detail.cause})`;
    return `${task.status}, ${until}: ${asLine(detail.reason, DETAIL)}`;
  }
  return `${task.status}, ${task.phase}`;
}

function toolsText({ progress }: Task): string {
  if (progress.toolCalls === 0) return "no tool calls";
  return `${progress.toolCalls} tool calls (last: ${progress.lastTools.map(toolName).join(", ")})`;
}

/** Models invent tool names, too. */
function toolName(name: string): string {
  return asLine(name, NAME);
}

/** The header of a task's output: what it is and its state. */
export function headText(task: Task, now: number): string {
  const { progress, run } = task;
  const lines = [
    `Task ${task.id}: ${stateText(task)}`,
    `Agent ${asLine(task.agent, NAME)}: "${asLine(task.description, DETAIL)}"${run.number > 0 ? ` (resume #${run.number})` : ""}`,
    `Duration: ${durationText(runDuration(task, now))}`,
    `Progress: ${toolsText(task)}${byName(task)}; last update ${new Date(progress.lastUpdate).toISOString()}`,
    `Tokens: ${progress.tokens.input} in, ${progress.tokens.output} out; cost ${progress.cost.toFixed(4)}`,
  ];
  return lines.join("\n");
}

function byName({ progress }: Task): string {
  const names = Object.entries(progress.toolCallsByName).sort(([, a], [, b]) => b - a);
  if (names.length === 0) return "";
  return `; by name: ${names
    .slice(0, 8)
    .map(([name, count]) => `${toolName(name)} ${count}`)
    .join(", ")}`;
}

/** A task's final output, framed; with its position if it is one of several pages. */
export function textOf(task: Task, page: { text: string; place: string }, newMark: NewMark): string {
  const label = task.status === "completed" ? "Result" : task.status === "error" ? "Error" : "Reason";
  const quote = framed(`${label.toLowerCase()} of task ${task.id}`, page.text, newMark);
  return `${label}${page.place}:\n${quote}`;
}

/** One page of a text, cut between characters; null if there is no such page. */
export function textPage(text: string, page: number): { text: string; pages: number } | null {
  const bytes = new TextEncoder().encode(text);
  const starts = [0];
  while ((starts.at(-1) ?? 0) + PAGE_BYTES < bytes.length) {
    let next = (starts.at(-1) ?? 0) + PAGE_BYTES;
    while (((bytes[next] ?? 0) & 0b1100_0000) === 0b1000_0000) next--;
    starts.push(next);
  }
  const start = starts[page - 1];
  if (start === undefined) return null;
  return { text: new TextDecoder().decode(bytes.subarray(start, starts[page] ?? bytes.length)), pages: starts.length };
}
