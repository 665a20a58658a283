/**
 * Completion by evidence: what a host can show about one run, and the verdict on it. Pure. Being idle is not enough: a
 * run completed only if it has a finished answer of its own without an error, and it did something.
 */
import type { TaskEvent } from "./events.ts";
import { noProgress, type Progress } from "./progress.ts";

/** What the session's messages after the run's prompt show. */
export interface Evidence {
  /** The run's own prompt is in the session. */
  prompted: boolean;
  /**
   * The text of the first finished answer that ended the turn, after the prompt and after every steering message that
   * the agent took up.
   */
  answer: { text: string } | null;
  /**
   * The error of the newest answer. `until`: when the provider said that it will be back; null if it refused requests
   * for a while, but the host does not know until when. Absent for other errors.
   */
  error: { message: string; aborted: boolean; until?: number | null } | null;
  /** An answer was started, and perhaps never finished. */
  begun: boolean;
  /**
   * A message was begun and not finished: the agent writes, or its process died. It may stand beside an answer, if
   * another program works in the same session.
   */
  unfinished: boolean;
  /** Text was written or a tool call completed. */
  worked: boolean;
  /** The tool call at which the run stopped because it failed or was denied. */
  stoppedAt: { tool: string; message: string } | null;
  /** The progress of this run alone. */
  progress: Progress;
  /** The steering messages, by their ids in the session, that the agent took up. */
  taken: readonly string[];
}

/** Nothing seen yet. */
export function noEvidence(prompted: boolean): Evidence {
  return {
    prompted,
    answer: null,
    error: null,
    begun: false,
    unfinished: false,
    worked: false,
    stoppedAt: null,
    progress: noProgress(0),
    taken: [],
  };
}

export type Verdict =
  | { outcome: "completed"; result: string }
  | { outcome: "error"; error: string }
  | { outcome: "cancelled"; reason: string };

export const NO_OUTPUT = "ended without output: the agent stopped without writing text or completing a tool call";
export const INTERRUPTED = "interrupted: the process that ran this task ended before the task did";
export const CANCELLED = "cancelled on request";
export const SESSION_DELETED = "its session was deleted";
/** The errors of interrupted runs start with this: a program died, and the work itself was fine. */
const INTERRUPTION = "interrupted:";

/** The error of a run whose agent program was killed; `what` says which program and how. */
export function interruption(what: string): string {
  return `${INTERRUPTION} ${what}`;
}

export function isInterruption(error: string | null): boolean {
  return error?.startsWith(INTERRUPTION) ?? false;
}

export const ABORTED = "aborted in its own session";
/** Its own process may have stopped it, or a person: whoever finds it later cannot know. */
export const STOPPED_UNSEEN = "stopped in its session; its process was gone, so it is not known by whom";

/** The verdict on a run whose session is idle. `announced` is an error that the host reported outside the messages. */
export function judge(evidence: Evidence, announced: string | null): Verdict {
  if (evidence.error?.aborted) return { outcome: "cancelled", reason: ABORTED };
  if (evidence.error) return { outcome: "error", error: evidence.error.message };
  if (evidence.answer && evidence.worked) return { outcome: "completed", result: evidence.answer.text };
  if (announced !== null) return { outcome: "error", error: announced };
  if (evidence.stoppedAt) {
    const { tool, message } = evidence.stoppedAt;
    return { outcome: "error", error: `stopped at its call of ${tool}: ${message}` };
  }
  return { outcome: "error", error: NO_OUTPUT };
}

/**
 * The verdict on a run whose process is gone: a finished answer counts; anything else was interrupted, or cancelled if
 * a cancel had been requested.
 */
export function judgeInterrupted(evidence: Evidence, isCancelRequested = false): Verdict {
  if (evidence.error?.aborted) return { outcome: "cancelled", reason: isCancelRequested ? CANCELLED : STOPPED_UNSEEN };
  if (evidence.answer || evidence.error) return judge(evidence, null);
  if (isCancelRequested) return { outcome: "cancelled", reason: CANCELLED };
  return { outcome: "error", error: INTERRUPTED };
}

/** The event that ends a run with this verdict. */
export function endOf(verdict: Verdict, run: { at: number; run: number; progress: Progress | null }): TaskEvent {
  switch (verdict.outcome) {
    case "completed":
      return { type: "run.completed", ...run, result: verdict.result };
    case "error":
      return { type: "run.failed", ...run, error: verdict.error };
    case "cancelled":
      return { type: "run.cancelled", ...run, reason: verdict.reason };
  }
}
