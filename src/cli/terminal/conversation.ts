/**
 * Formats a conversation as lines for a terminal, and finds its finished parts: a text that is still being written is
 * not printed, because a printed line cannot be taken back. Pure.
 */
import type { LogMessage, LogPart } from "../../protocol/conversations.ts";
import type { Paint } from "./paint.ts";
import { cutToWidth, longDuration, oneLine } from "./text.ts";

interface FinishedPart {
  key: string;
  message: LogMessage;
  part: LogPart;
}

/** The parts that will not change any more, in order; with `all`, every part. */
export function finishedParts(messages: readonly LogMessage[], all: boolean): FinishedPart[] {
  return messages.flatMap((message) => {
    const shown = message.parts
      .map((part, index) => ({ key: `${message.id}:${index}`, message, part, index }))
      .filter(({ part, index }) => isShown(part) && (all || isFinished(message, part, index)));
    return shown.map(({ key, part }) => ({ key, message, part }));
  });
}

function isShown(part: LogPart): boolean {
  if (part.type === "text") return !part.hidden && part.text.trim() !== "";
  return part.type === "tool" || part.type === "file";
}

function isFinished(message: LogMessage, part: LogPart, index: number): boolean {
  if (part.type === "tool") return part.state === "completed" || part.state === "error";
  return message.role === "user" || message.endedAt !== null || index < message.parts.length - 1;
}

/** The speaker; null at the start. Consecutive parts name their speaker once. */
export type Speaker = string | null;

export function speakerOf({ id, role, agent, model }: LogMessage): Speaker {
  return role === "user" ? id : `${agent} ${model}`;
}

export function partLines({ message, part }: FinishedPart, last: Speaker, paint: Paint, width: number): string[] {
  const lines = speakerOf(message) === last ? [] : [...(last === null ? [] : [""]), headOf(message, paint)];
  if (part.type === "text") lines.push(...part.text.trimEnd().split("\n"));
  else if (part.type === "tool") lines.push(...toolLines(part, paint, width));
  else if (part.type === "file") lines.push(paint.dim(`  [file ${oneLine(part.name ?? part.mime)}]`));
  return lines;
}

function headOf(message: LogMessage, paint: Paint): string {
  const time = new Date(message.at).toTimeString().slice(0, 8);
  if (message.role === "user") return `${paint.bold(paint.cyan("▌ prompt"))} ${paint.dim(time)}`;
  const model = message.model ? ` · ${oneLine(message.model)}` : "";
  return `${paint.bold(paint.blue(`▌ ${oneLine(message.agent ?? "assistant")}`))}${paint.dim(`${model} · ${time}`)}`;
}

function toolLines(part: Extract<LogPart, { type: "tool" }>, paint: Paint, width: number): string[] {
  const took =
    part.startedAt && part.endedAt ? ` (${longDuration(Date.parse(part.endedAt) - Date.parse(part.startedAt))})` : "";
  const mark =
    part.state === "error" ? paint.red("✗") : part.state === "completed" ? paint.green("✓") : paint.yellow("…");
  const what = oneLine(part.title || inputOf(part.input));
  const line = cutToWidth(`${oneLine(part.name)}  ${what}`, Math.max(20, Math.min(width, 200) - took.length - 4));
  const failed = part.error ? [paint.red(`    ${cutToWidth(oneLine(part.error), Math.min(width, 400) - 4)}`)] : [];
  return [`  ${mark} ${line.trimEnd()}${paint.dim(took)}`, ...failed];
}

/** The values of an input say more than its field names. */
function inputOf(input: unknown): string {
  if (typeof input !== "object" || input === null) return input === undefined || input === null ? "" : String(input);
  return Object.values(input)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(" ");
}
