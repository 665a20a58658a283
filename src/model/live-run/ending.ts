/**
 * How the end of a live run is written: a verdict, a stop, or that another process owns it. Pure. One end is written at
 * a time; a write that failed is repeated as it was. Nothing follows the end but stopping what is left at work.
 * `settling.ts` finds out whether it has ended.
 */
import type { TaskEvent } from "../events.ts";
import { endOf, type Verdict } from "../evidence.ts";
import type { Progress } from "../progress.ts";
import { isSteering } from "../steering.ts";
import type { Transition } from "../transition.ts";
import { type RunEffect, type RunStep, unchanged } from "./effects.ts";
import { isPrompted, isResting, type LiveRun, progressOf, type StopAttempt } from "./live-run.ts";
import type { Moment } from "./moment.ts";
import { receiptNotWritten, receiptWritten } from "./steering.ts";
import { phaseBegan, type WorkSpan } from "./work-spans.ts";

const POLL_LATER: RunEffect = { type: "poll", soon: false };

/** Writes the end, unless one is known already: the first one counts. */
export function end(run: LiveRun, verdict: Verdict, progress: Progress | null, at: Moment): RunStep {
  return run.ending === null ? write(run, verdict, progress, at) : unchanged(run);
}

/** Writes an end again that could not be written before. */
export function writeAgain(run: LiveRun, at: Moment): RunStep {
  if (run.ending === null || run.ending.isWriting) return unchanged(run);
  return write(run, run.ending.verdict, run.ending.progress, at);
}

function write(run: LiveRun, verdict: Verdict, progress: Progress | null, at: Moment): RunStep {
  const event = endOf(verdict, { at: at.wall, run: run.number, progress });
  return { run: { ...run, ending: { verdict, progress, isWriting: true } }, effects: [{ type: "write", event }] };
}

/** Stops the host's work and then ends the run. What was never prompted is not at work. */
export function stop(run: LiveRun, verdict: Verdict, at: Moment): RunStep {
  if (run.ending !== null) return writeAgain(run, at);
  const attempt = { number: run.stops + 1, verdict };
  const stopping = { ...run, stops: attempt.number, stopping: attempt };
  if (!isPrompted(run)) return end(stopping, verdict, progressOf(run, at), at);
  return { run: stopping, effects: [{ type: "abort", purpose: { name: "stop", attempt } }] };
}

export function stopped(run: LiveRun, { verdict }: StopAttempt, at: Moment): RunStep {
  return end(run, verdict, progressOf(run, at), at);
}

/**
 * The host could not stop it, or only its answer was lost. A poll tries again where that is still wanted, and finds out
 * whether it has ended.
 */
export function notStopped(run: LiveRun, attempt: StopAttempt): RunStep {
  const isLatest = run.stopping?.number === attempt.number;
  const tried = { ...run, stopping: null, triedStop: attempt.verdict };
  return { run: isLatest ? tried : run, effects: [POLL_LATER] };
}

/**
 * This process is about to end, and the run with it: as it was about to end, or with this error. A paused run stays as
 * it is stored: nothing is at work, and another process takes it up.
 */
export function interrupt(run: LiveRun, error: string, at: Moment): RunStep {
  if (run.ending !== null) return writeAgain(run, at);
  const { cancelReason: reason } = run;
  if (run.stage.name === "paused" && reason === null && run.stopping === null) {
    const { phased } = run;
    if (!phased?.isMissing) return unchanged(run);
    return {
      run: { ...run, phased: { ...phased, isMissing: false } },
      effects: [{ type: "write", event: phased.event }],
    };
  }
  const verdict: Verdict = reason === null ? { outcome: "error", error } : { outcome: "cancelled", reason };
  const stopping = run.stopping ?? { number: run.stops + 1, verdict };
  const stopped = { ...run, stopping, stops: Math.max(run.stops, stopping.number) };
  return end(stopped, stopping.verdict, progressOf(run, at), at);
}

export function written(run: LiveRun, event: TaskEvent, outcome: Transition): RunStep {
  if (!outcome.changed && outcome.reason !== "no_change") return lose(run);
  if (isSteering(event)) return receiptWritten(run, event.id);
  if (!outcome.changed) return unchanged(run);
  const isAnnounced = isEnd(event) || outcome.notice !== null;
  const effects: RunEffect[] = isAnnounced ? [{ type: "announce", task: outcome.task }] : [];
  if (!isEnd(event)) return { run, effects };
  const over = finish(run, "ended");
  return { run: over.run, effects: [...over.effects, ...effects] };
}

export function notWritten(run: LiveRun, event: TaskEvent): RunStep {
  if (run.phased?.event === event) {
    return { run: { ...run, phased: { event, isMissing: true } }, effects: [POLL_LATER] };
  }
  if (isSteering(event)) return { run: receiptNotWritten(run, event.id), effects: [POLL_LATER] };
  if (!isEnd(event) || run.ending === null) return unchanged(run);
  return { run: { ...run, ending: { ...run.ending, isWriting: false } }, effects: [POLL_LATER] };
}

/** Another process took the run, or ended it, because it took this one for dead: what is at work here must stop. */
export function lose(run: LiveRun): RunStep {
  return finish(run, "lost");
}

function finish(run: LiveRun, why: "ended" | "lost"): RunStep {
  const isDoubtful = run.stage.name === "doubtful";
  const isPromptOut = run.stage.name === "prompting";
  const isAtWork = isDoubtful || (why === "lost" && isPrompted(run) && !isResting(run));
  const effects: RunEffect[] = [];
  if (isDoubtful || isPromptOut) effects.push({ type: "abandon" });
  if (isAtWork) effects.push({ type: "sweep" });
  return { run: { ...run, stage: { name: "over", why, isPromptOut } }, effects };
}

export function isEnd({ type }: TaskEvent): boolean {
  return type === "run.completed" || type === "run.failed" || type === "run.cancelled";
}

/** What the run has spent its time on when that is written. */
export function spansWith({ spans }: LiveRun, event: TaskEvent): readonly WorkSpan[] {
  return isEnd(event) ? phaseBegan(spans, null, event.at).list : spans.list;
}
