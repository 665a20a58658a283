/**
 * A task as Markdown, for people. What agents wrote stays text: in fences that it cannot close, or escaped. Pure.
 */
import type { BackgroundTask } from "../../../../src/protocol/tasks.ts";
import { costText } from "../../wording/amounts.ts";
import { visibleText } from "../../wording/hidden-characters.ts";

export function taskMarkdown(task: BackgroundTask): string {
  const { progress } = task;
  const facts = [
    ["task", task.id],
    ["status", task.status],
    ["agent", [task.agent, task.model].filter(Boolean).join(" · ")],
    ["host", task.host],
    ["directory", task.directory],
    ["started", task.startedAt],
    ["ended", task.completedAt ?? ""],
    ["tools", String(progress.toolCalls)],
    ["cost", costText(progress.cost)],
  ];
  const lines = [`# ${oneLine(task.description)}`, ""];
  for (const [name, value] of facts) if (value) lines.push(`- ${name}: ${oneLine(value)}`);
  for (const [title, text] of [
    ["Prompt", task.prompt],
    ["Error", task.error],
    ["Result", task.result],
  ]) {
    if (text) lines.push("", `## ${title}`, "", fenced(visibleText(text)));
  }
  return `${lines.join("\n")}\n\n`;
}

/** As it is, whatever it means in Markdown or HTML. */
function oneLine(text: string): string {
  return visibleText(text.replaceAll(/\s+/g, " ").trim()).replaceAll(/[\\`*_[\]<>#|~!&]/g, "\\$&");
}

function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}
