/**
 * How a live run ends: on evidence that belongs to it, by a stop, or because another process owns it. Pure. One end is
 * written at a time; a write that failed is repeated as it was. Nothing follows the end but stopping what is left at
 * work.
 */
import type { TaskEvent } from "../events.ts";
import { type Evidence, endOf, judge, SESSION_DELETED, type Verdict } from "../evidence.ts";
import { addProgress, fullerProgress, type Progress } from "../progress.ts";
import { isSteering } from "../steering.ts";
import type { Transition } from "../transition.ts";
import { type InspectPurpose, type RunEffect, type RunStep, then, unchanged } from "./effects.ts";
import { isPrompted, type LiveRun, progressOf, type StopAttempt } from "./live-run.ts";
import type { Moment } from "./moment.ts";
import { deliver, isSteered, receiptNotWritten, receiptWritten } from "./steering.ts";

/** A host may accept a prompt some time before it begins to work on it, and be idle in between. */
const BEGIN_MS = 20_000;

const POLL_LATER: RunEffect = { type: "poll", soon: false };
const POLL_SOON: RunEffect = { type: "poll", soon: true };

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

/** The host could not stop it. A poll tries again where that is still wanted. */
export function notStopped(run: LiveRun, attempt: StopAttempt): RunStep {
  const isLatest = run.stopping?.number === attempt.number;
  return { run: isLatest ? { ...run, stopping: null } : run, effects: [POLL_LATER] };
}

/** This process is about to end, and the run with it: as it was about to end, or with this error. */
export function interrupt(run: LiveRun, error: string, at: Moment): RunStep {
  if (run.ending !== null) return writeAgain(run, at);
  const { cancelReason: reason } = run;
  const verdict: Verdict = reason === null ? { outcome: "error", error } : { outcome: "cancelled", reason };
  const stopping = run.stopping ?? { number: run.stops + 1, verdict };
  const stopped = { ...run, stopping, stops: Math.max(run.stops, stopping.number) };
  return end(stopped, stopping.verdict, progressOf(run, at), at);
}

/** The host hinted at an end. Before it confirmed the prompt, the hint is remembered. */
export function checkEnd(run: LiveRun): RunStep {
  const { stage } = run;
  if (stage.name === "prompting" || stage.name === "doubtful") {
    return unchanged({ ...run, stage: { ...stage, isEndHeard: true } });
  }
  return inspect(run, { name: "hint" });
}

/** Looks into the session of a run that is at work and has no end yet. */
export function inspect(run: LiveRun, purpose: InspectPurpose): RunStep {
  if (run.stage.name !== "working" || run.ending !== null) return unchanged(run);
  return { run, effects: [{ type: "inspect", purpose }] };
}

/**
 * Ends the run if its messages show that it ended. `askedAt`: when the status call was made that found the session
 * idle; null for a mere hint. An idle session without an answer or an error may have been idle since an earlier
 * run, and beside an unfinished message an answer may be that of another program, which works in the same session:
 * then only status calls count, and such a call only if the host also said that it is idle, or if an earlier
 * inspection found the same. The call must be newer than that word or that inspection, and than any sign of work: a
 * turn may have begun between a call and the reading of the messages, and what is read may take long to arrive.
 * While a message is being written, the word may be a late one about an earlier run. The same holds while a steering
 * message is on its way: the agent may be about to take it up. Receipts are stored before the end, which would call
 * such a message failed.
 */
export function settle(run: LiveRun, evidence: Evidence, askedAt: number | null, at: Moment): RunStep {
  const { stage, announced } = run;
  if (stage.name !== "working" || run.ending !== null) return unchanged(run);
  const receipts = deliver(run, evidence, at);
  if (receipts.effects.length > 0) return { run: receipts.run, effects: [...receipts.effects, POLL_LATER] };
  const isOver = (evidence.answer !== null || evidence.error !== null) && !evidence.unfinished;
  const hasEnd = isOver && !isSteered(run);
  if (askedAt === null && !hasEnd) return { run, effects: [POLL_SOON] };
  // What others do in the session comes first: the time to begin counts from the end of that.
  const isFresh = at.awake - stage.workSeenAt < BEGIN_MS;
  if (!evidence.begun && announced === null && isFresh) return { run, effects: [POLL_LATER] };
  const { begun } = evidence;
  const isNewer = askedAt !== null && askedAt > stage.workSeenAt;
  const isSame = stage.idle?.begun === begun;
  const isHeard = run.idleHeardAt !== null && (askedAt ?? 0) >= run.idleHeardAt && !evidence.unfinished;
  const isIdle = isHeard || (isSame && stage.idle !== null && (askedAt ?? 0) > stage.idle.at);
  // An announced error may be a late one of an earlier run: it does not count while a message is being written.
  const isAnnounced = announced !== null && !evidence.unfinished;
  if (!hasEnd && !(isNewer && (isAnnounced || isIdle))) {
    const found = { ...stage, idle: isSame || !isNewer ? stage.idle : { at: at.awake, begun } };
    return { run: { ...run, stage: found }, effects: [POLL_LATER] };
  }
  const ended = end(run, run.stopping?.verdict ?? judge(evidence, announced), totalsWith(run, evidence, at), at);
  // Perhaps it waits behind a person's turn, and the error is that one's: it must not begin after its end.
  return begun || run.isHostDead
    ? ended
    : { run: ended.run, effects: [{ type: "abandon", isThere: true }, ...ended.effects] };
}

/** The host's program died: what the run had finished counts. */
export function settleDead(run: LiveRun, evidence: Evidence, reason: string, at: Moment): RunStep {
  return then(deliver(run, evidence, at), (next) =>
    end(next, judge(evidence, reason), totalsWith(next, evidence, at), at),
  );
}

/** The session could not be read. */
export function notInspected(run: LiveRun, isGone: boolean, at: Moment): RunStep {
  if (!isGone) return { run, effects: [POLL_LATER] };
  // Another process deleted it: its agent may work on here.
  const ended = end(run, { outcome: "error", error: SESSION_DELETED }, null, at);
  return { run: ended.run, effects: [{ type: "sweep" }, ...ended.effects] };
}

export function deleted(run: LiveRun, at: Moment): RunStep {
  const ended = end(run, { outcome: "cancelled", reason: SESSION_DELETED }, progressOf(run, at), at);
  return { run: ended.run, effects: [{ type: "abort", purpose: { name: "deleted" } }, ...ended.effects] };
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
  const isAtWork = isDoubtful || (why === "lost" && isPrompted(run));
  const effects: RunEffect[] = [];
  if (isDoubtful || isPromptOut) effects.push({ type: "abandon" });
  if (isAtWork) effects.push({ type: "sweep" });
  return { run: { ...run, stage: { name: "over", why, isPromptOut } }, effects };
}

export function isEnd({ type }: TaskEvent): boolean {
  return type === "run.completed" || type === "run.failed" || type === "run.cancelled";
}

/** Events and messages may each have missed something. */
function totalsWith(run: LiveRun, evidence: Evidence, at: Moment): Progress {
  return fullerProgress(progressOf(run, at), addProgress(run.activity.before, evidence.progress));
}
