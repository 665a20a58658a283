/**
 * A task and its conversation as Markdown, for people. What agents and tools wrote is in fences that it cannot close,
 * or as it is where it is meant as Markdown. Characters that a terminal would obey are spelled out by the caller. Pure.
 */
import type { LogMessage, LogPart } from "../../protocol/conversations.ts";
import type { BackgroundTask, BackgroundTaskRun } from "../../protocol/tasks.ts";
import { money } from "../terminal/figures.ts";
import { longDuration, oneLine } from "../terminal/text.ts";

export function taskMarkdown(task: BackgroundTask, runs: readonly BackgroundTaskRun[]): string {
  const { progress } = task;
  const { input, output, reasoning, cacheRead, cacheWrite } = progress.tokens;
  const fields: [string, string | null][] = [
    ["task", `\`${task.id}\``],
    ["status", task.phase === null ? task.status : `${task.status} (${task.phase})`],
    ["agent", [task.agent, task.model].filter(Boolean).join(" · ")],
    ["host", task.host],
    ["directory", `\`${oneLine(task.directory)}\``],
    ["started", task.startedAt],
    ["ended", task.completedAt],
    ["runs", String(task.run.number + 1)],
    ["tools", String(progress.toolCalls)],
    ["tokens", `${input + cacheRead + cacheWrite} read, ${output + reasoning} written`],
    ["cost", money(progress.cost)],
  ];
  const lines = [`# ${oneLine(task.description)}`, ""];
  for (const [name, value] of fields) if (value) lines.push(`- ${name}: ${oneLine(value)}`);
  if (task.error !== null) lines.push("", "## Error", "", fenced(task.error));
  if (task.result !== null) lines.push("", "## Result", "", task.result.trimEnd());
  if (runs.length > 1) lines.push("", "## Runs", "", ...runs.toReversed().map(runLine));
  return `${[...lines, "", "## Conversation", ""].join("\n")}\n`;
}

function runLine({ number, startedAt, endedAt, outcome, error }: BackgroundTaskRun): string {
  const took = endedAt === null ? "running" : longDuration(Date.parse(endedAt) - Date.parse(startedAt));
  const how = outcome === null ? "" : `, ${outcome}${error === null ? "" : `: ${oneLine(error)}`}`;
  return `${number + 1}. ${startedAt}, ${took}${how}`;
}

export function messageMarkdown(message: LogMessage): string {
  const { role, agent, model, at, error } = message;
  const who = role === "user" ? "Prompt" : [agent ?? "assistant", model].filter(Boolean).join(" · ");
  const parts = message.parts.map(partMarkdown).filter((part) => part !== "");
  if (error !== null) parts.push(`**error**\n\n${fenced(error)}`);
  return parts.length === 0 ? "" : `${[`### ${oneLine(who)} · ${at}`, ...parts].join("\n\n")}\n\n`;
}

function partMarkdown(part: LogPart): string {
  if (part.type === "text") return part.hidden ? "" : part.text.trim();
  if (part.type === "reasoning") return quoted(part.text.trim());
  if (part.type === "tool") return toolMarkdown(part);
  return part.type === "file" ? `[file ${oneLine(part.name ?? part.mime)}]` : "";
}

function toolMarkdown(part: Extract<LogPart, { type: "tool" }>): string {
  const title = part.title ? `: ${oneLine(part.title)}` : "";
  const blocks = [`**${oneLine(part.name)}** (${part.state})${title}`];
  if (part.input !== undefined && part.input !== null) blocks.push(fenced(JSON.stringify(part.input, null, 2), "json"));
  if (part.output) blocks.push(fenced(part.output));
  if (part.error) blocks.push(fenced(part.error));
  return blocks.join("\n\n");
}

function quoted(text: string): string {
  return text === ""
    ? ""
    : text
        .split("\n")
        .map((line) => `> ${line}`)
        .join("\n");
}

/** The fence is longer than any in the text. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}
