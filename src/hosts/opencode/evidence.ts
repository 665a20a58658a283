/**
 * Reads the evidence about one run from a session's messages: everything after the run's prompt, up to the first answer
 * that ended the turn, after all steering messages that were taken up. What a person types afterwards does not count.
 * Pure; `src/model/evidence.ts` gives the verdict.
 */
import { type Evidence, noEvidence } from "../../model/evidence.ts";
import { countTool, type Progress } from "../../model/progress.ts";
import { takenUp } from "../taken-up.ts";
import {
  errorReturn,
  errorText,
  isAbort,
  type WireError,
  type WireInfo,
  type WireMessage,
  type WirePart,
} from "./wire.ts";

/** Messages after the run's prompt, oldest first. `steering`: the ids of those that were sent into the run. */
export function evidenceOf(
  messages: readonly WireMessage[],
  prompted: boolean,
  steering: readonly string[] = [],
): Evidence {
  const evidence = noEvidence(prompted);
  const read = messages.map(({ info: { id, role, parentID } }) => ({ id, role, answers: parentID }));
  const { taken, until } = takenUp(read, steering);
  evidence.taken = taken;
  let isOver = false;
  for (const [index, { info, parts }] of messages.entries()) {
    const isPast = index > until;
    if (info.role === "user" && isPast && (isOver || evidence.answer)) break;
    if (info.role !== "assistant") continue;
    const isUnfinished = info.error === undefined && info.time.completed === undefined;
    evidence.unfinished ||= isUnfinished;
    if (evidence.answer && isPast) continue;
    // An answer before a steering message that was taken up is not the run's.
    evidence.answer = null;
    // After an error, or a message that its process never finished, the next prompt is not part of this run.
    isOver = info.error !== undefined || isUnfinished;
    evidence.progress = addUsage(parts.reduce(countPart, evidence.progress), info);
    if (info.summary === true) continue;
    readAnswer(evidence, info, parts);
  }
  return evidence;
}

function readAnswer(evidence: Evidence, info: WireInfo, parts: readonly WirePart[]): void {
  const text = parts.filter(isOwnText).map((part) => part.text ?? "");
  const tools = parts.filter((part) => part.type === "tool");
  const failed = tools.findLast((part) => part.state?.status === "error");
  evidence.begun = true;
  evidence.worked ||=
    text.some((piece) => piece.trim() !== "") || tools.some((part) => part.state?.status === "completed");
  evidence.error = info.error ? errorOf(info.error, info.time.completed ?? info.time.created) : null;
  evidence.stoppedAt = failed ? { tool: failed.tool ?? "a tool", message: failed.state?.error ?? "failed" } : null;
  const finished = info.time.completed !== undefined && info.finish !== undefined && info.finish !== "tool-calls";
  if (finished && !info.error && tools.length === 0) evidence.answer = { text: text.join("\n").trim() };
}

function errorOf(error: WireError, at: number): NonNullable<Evidence["error"]> {
  const until = errorReturn(error, at);
  return { message: errorText(error), aborted: isAbort(error), ...(until !== undefined && { until }) };
}

function isOwnText(part: WirePart): boolean {
  return part.type === "text" && part.synthetic !== true && part.ignored !== true;
}

function countPart(progress: Progress, part: WirePart): Progress {
  return part.type === "tool" && part.state?.status !== "pending" ? countTool(progress, part.tool ?? "tool") : progress;
}

function addUsage(progress: Progress, info: WireInfo): Progress {
  const { tokens } = progress;
  return {
    ...progress,
    lastUpdate: Math.max(progress.lastUpdate, info.time.completed ?? info.time.created),
    tokens: {
      input: tokens.input + (info.tokens?.input ?? 0),
      output: tokens.output + (info.tokens?.output ?? 0),
      reasoning: tokens.reasoning + (info.tokens?.reasoning ?? 0),
      cacheRead: tokens.cacheRead + (info.tokens?.cache?.read ?? 0),
      cacheWrite: tokens.cacheWrite + (info.tokens?.cache?.write ?? 0),
    },
    cost: progress.cost + (info.cost ?? 0),
  };
}
