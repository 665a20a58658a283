/**
 * What a task is doing, in words, and whether it needs attention. Pure; the mark that shows it lives in parts.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { counted } from "./amounts.ts";
import { momentText } from "./durations.ts";
import { isLive } from "./statuses.ts";

export type Phased = Pick<
  BackgroundTask,
  "status" | "phase" | "phaseDetail" | "progress" | "error" | "cancelRequestedAt" | "queue"
>;

/** Whether a live task waits to start: for other tasks, for a runner or for a free slot. */
export function hasNotStarted(task: Pick<BackgroundTask, "status" | "phase" | "phaseDetail">): boolean {
  const { phase, phaseDetail: detail } = task;
  return isLive(task) && (phase === "queued" || detail?.kind === "after" || detail?.kind === "blocked");
}

export interface PhaseText {
  text: string;
  /** A person has to act, or something is going wrong. The timeline shows no other phases. */
  needsAttention: boolean;
  kind: "waiting" | "question" | "retrying" | "stalled" | "plain";
}

/** Complete, so that a new phase does not compile without its words. Null: what the agent does says more. */
const WORDS: Record<NonNullable<Phased["phase"]>, { kind: PhaseText["kind"]; text: string } | null> = {
  queued: { kind: "plain", text: "waits for a free slot" },
  starting: { kind: "plain", text: "starting" },
  working: null,
  retrying: { kind: "retrying", text: "retrying" },
  waiting: { kind: "waiting", text: "waiting for a person" },
  stalled: { kind: "stalled", text: "stalled: no recent activity" },
  paused: { kind: "stalled", text: "paused" },
};

export function phaseText(task: Phased): PhaseText {
  const attention = (kind: PhaseText["kind"], text: string): PhaseText => ({ kind, text, needsAttention: true });
  if (!isLive(task)) return { kind: "plain", text: endText(task), needsAttention: false };
  if (task.cancelRequestedAt !== null) return { kind: "plain", text: "cancelling…", needsAttention: false };
  const detail = task.phaseDetail;
  if (detail?.kind === "waiting") {
    const [kind, what] =
      detail.asks === "question" ? (["question", "an answer"] as const) : (["waiting", "permission"] as const);
    return attention(kind, `waiting for ${what}: ${detail.text}`);
  }
  if (detail?.kind === "blocked") return attention("waiting", `cannot start: ${detail.text}`);
  if (detail?.kind === "after") return { kind: "plain", text: "starts after other tasks", needsAttention: false };
  if (task.queue?.waitsFor) {
    return { kind: "plain", text: `waits for a runner: ${task.queue.waitsFor}`, needsAttention: false };
  }
  if (detail?.kind === "retrying") {
    const next = detail.next === undefined ? "" : `, next at ${momentText(detail.next)}`;
    return attention("retrying", `retrying (${detail.count}${next}): ${detail.reason}`);
  }
  if (detail?.kind === "paused") {
    if (detail.cause === "stall") return attention("stalled", `restarting (${detail.count}): ${detail.reason}`);
    return attention("stalled", `waiting until ${momentText(detail.until)} (quota): ${detail.reason}`);
  }
  // A newer process may share the store, and write a phase that this page does not know.
  if (task.phase !== null && !Object.hasOwn(WORDS, task.phase))
    return { kind: "plain", text: task.phase, needsAttention: false };
  const words = task.phase === null ? null : WORDS[task.phase];
  if (words === null) return { kind: "plain", text: workText(task), needsAttention: false };
  return { ...words, needsAttention: words.kind !== "plain" };
}

function workText(task: Phased): string {
  const newest = task.progress.lastTools.at(-1);
  const calls = task.progress.toolCalls === 0 ? "working" : counted(task.progress.toolCalls, "tool call");
  return newest ? `${calls} · ${newest}` : calls;
}

function endText(task: Phased): string {
  if (task.error) return task.error;
  return task.progress.toolCalls === 0 ? "" : counted(task.progress.toolCalls, "tool call");
}
