/**
 * An account of an agent's earlier session, for a new one that has to go on from there: what was asked and answered,
 * bounded, the newest last. It says what it is, to the agent and to whoever reads the transcript. Pure.
 */
import type { MessagePart } from "../../model/message.ts";
import type { RunView } from "./run-view.ts";

const ACCOUNT_CHARS = 24_000;
const PROMPT_CHARS = 4_000;
const ANSWER_CHARS = 6_000;
const TOOL_CHARS = 300;

/** Null if nothing happened in the earlier session. */
export function accountOf(runs: readonly RunView[], reason: string): string | null {
  const told = runs.filter((run) => run.hasBegun).map(runText);
  if (told.length === 0) return null;
  const kept: string[] = [];
  let left = ACCOUNT_CHARS;
  for (const text of told.toReversed()) {
    if (text.length > left) break;
    kept.unshift(text);
    left -= text.length;
  }
  const lost = told.length - kept.length;
  const head = `This is a new session. The one before it could not be continued (${reason}). What follows is an account of it, shortened; you do not remember it. After the account comes what is asked of you now.`;
  const missing = lost > 0 ? [`[${lost} earlier prompt(s) left out]`] : [];
  return ["<earlier-session>", head, ...missing, ...kept, "</earlier-session>"].join("\n\n");
}

function runText(run: RunView): string {
  const parts = run.answers.flatMap((answer) => (answer.role === "assistant" ? answer.parts : []));
  const did = cut(
    parts
      .map(partText)
      .filter((text) => text !== "")
      .join("\n"),
    ANSWER_CHARS,
  );
  const end = run.end?.error == null ? "" : `\n[It ended with an error: ${cut(run.end.error, TOOL_CHARS)}]`;
  return `Asked: ${cut(run.prompt, PROMPT_CHARS)}\n\nYou: ${did || "[nothing]"}${end}`;
}

function partText(part: MessagePart): string {
  if (part.type === "text") return part.text;
  if (part.type !== "tool") return "";
  const input = cut(JSON.stringify(part.input) ?? "", TOOL_CHARS);
  return `[${part.name} ${input} ${part.state}: ${cut(part.error ?? part.output ?? "", TOOL_CHARS)}]`;
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${text.slice(0, half)} … ${text.slice(-half)}`;
}
