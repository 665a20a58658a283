/**
 * Reads the evidence about one run from a scripted session: everything after the run's prompt, up to the end of its
 * turn, and of the turns that took up what was said to it meanwhile. What follows is not part of the run. Pure.
 */
import { type Evidence, noEvidence } from "../../model/evidence.ts";
import { addProgress, countTool, noProgress, type Progress } from "../../model/progress.ts";
import { takenUp } from "../taken-up.ts";
import type { AgentMessage, ScriptedMessage } from "./sessions.ts";

export function scriptedEvidence(
  messages: readonly ScriptedMessage[],
  runMessageId: string,
  steering: readonly string[] = [],
): Evidence {
  const prompt = messages.findIndex((message) => message.id === runMessageId);
  const evidence = noEvidence(prompt !== -1);
  if (prompt === -1) return evidence;
  const following = messages.slice(prompt + 1);
  const { taken, until } = takenUp(following.map(readMessageOf), steering);
  evidence.taken = taken;
  let isOver = false;
  let isEnded = false;
  for (const [index, message] of following.entries()) {
    if (message.role === "user") {
      if (isOver && index > until) break;
      continue;
    }
    evidence.unfinished ||= message.endedAt === null;
    if (isEnded && index > until) continue;
    // An answer before a steering message that was taken up is not the run's.
    evidence.answer = null;
    readMessage(evidence, message);
    isEnded = message.last && message.error === null;
    // After an error, or a message that its process never finished, a later prompt is not part of this run. Without
    // one, another process works on the same prompt: its answer counts.
    isOver = isEnded || message.error !== null || message.endedAt === null;
  }
  return evidence;
}

function readMessageOf(message: ScriptedMessage) {
  const { id, role } = message;
  return { id, role, answers: message.role === "assistant" ? message.answers : undefined };
}

function readMessage(evidence: Evidence, message: AgentMessage): void {
  const failed = message.calls.findLast((call) => call.error !== null);
  evidence.begun = true;
  evidence.worked ||= message.text.trim() !== "" || message.calls.some((call) => call.output !== null);
  evidence.error = message.error;
  evidence.stoppedAt = failed ? { tool: failed.name, message: failed.error ?? "failed" } : null;
  if (message.last && !message.error && message.calls.length === 0) evidence.answer = { text: message.text.trim() };
  evidence.progress = addProgress(evidence.progress, progressOf(message));
}

function progressOf(message: AgentMessage): Progress {
  const counted = message.calls.reduce((progress, call) => countTool(progress, call.name), noProgress(message.at));
  const { tokens, cost } = message;
  return { ...counted, lastUpdate: message.endedAt ?? message.at, tokens, cost };
}
