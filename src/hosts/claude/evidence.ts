/**
 * Reads the evidence about one run: the transcript between its prompt and the next prompt of a person, and what the CLI
 * reported about its end. If that report was missed, a finished answer in the transcript still counts. Pure.
 */
import { type Evidence, noEvidence } from "../../model/evidence.ts";
import { addProgress, countTool, noProgress, type Progress } from "../../model/progress.ts";
import type { SessionRecord } from "./ledger.ts";
import type { ClaudeTranscriptMessage } from "./transcript.ts";

export function claudeEvidence(
  messages: readonly ClaudeTranscriptMessage[],
  runMessageId: string,
  record: SessionRecord | null,
  isLive: boolean,
): Evidence {
  const prompt = messages.findIndex((message) => message.id === runMessageId);
  const evidence = noEvidence(prompt !== -1 || record?.prompts.has(runMessageId) === true);
  const end = record?.ends.get(runMessageId);
  const answers = prompt === -1 ? [] : answersAfter(messages, prompt);
  evidence.begun = record?.begun.has(runMessageId) === true;
  for (const message of answers) readAnswer(evidence, message);
  if (end) {
    evidence.begun = true;
    const { error, aborted, until } = end;
    evidence.error = error === null ? null : { message: error, aborted, ...(until !== undefined && { until }) };
    evidence.answer = end.text === null ? null : { text: end.text };
    evidence.progress = { ...evidence.progress, cost: end.cost };
  } else if (!isLive) {
    const last = answers.at(-1);
    evidence.answer = last?.isLast === true ? { text: textOf(last) } : null;
  }
  if (evidence.answer) evidence.stoppedAt = null;
  return evidence;
}

/** Entries that the CLI itself adds in between (a task ended, an interruption) are part of the run. */
function answersAfter(messages: readonly ClaudeTranscriptMessage[], prompt: number): ClaudeTranscriptMessage[] {
  const following = messages.slice(prompt + 1);
  const next = following.findIndex((message) => message.role === "user" && !message.isNote);
  const own = next === -1 ? following : following.slice(0, next);
  return own.filter((message) => message.role === "assistant" && !message.isNote);
}

function readAnswer(evidence: Evidence, message: ClaudeTranscriptMessage): void {
  const tools = message.parts.flatMap((part) => (part.type === "tool" ? [part] : []));
  const failed = tools.findLast((part) => part.state === "error");
  evidence.begun = true;
  evidence.worked ||= textOf(message) !== "" || tools.some((part) => part.state === "completed");
  evidence.stoppedAt = failed ? { tool: failed.name, message: failed.error || "failed" } : null;
  evidence.progress = addProgress(evidence.progress, progressOf(message));
}

function progressOf(message: ClaudeTranscriptMessage): Progress {
  const tools = message.parts.flatMap((part) => (part.type === "tool" ? [part.name] : []));
  const counted = tools.reduce(countTool, noProgress(message.endedAt ?? message.at));
  return message.tokens ? { ...counted, tokens: message.tokens } : counted;
}

function textOf(message: ClaudeTranscriptMessage): string {
  const texts = message.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.join("\n").trim();
}
