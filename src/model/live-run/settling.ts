/**
 * Whether a live run has ended: hints, what its session shows, and what the host's status calls say. Pure. A run ends
 * only on evidence that belongs to it; an error with which the provider named a time is a pause instead.
 */
import { type Evidence, judge, SESSION_DELETED, type Verdict } from "../evidence.ts";
import { addProgress, fullerProgress } from "../progress.ts";
import { basedOn, totalsOf } from "./activity.ts";
import { type InspectPurpose, type RunEffect, type RunStep, then, unchanged } from "./effects.ts";
import { end } from "./ending.ts";
import { type LiveRun, progressOf } from "./live-run.ts";
import type { Moment } from "./moment.ts";
import { pauseForError } from "./pausing.ts";
import { deliver, isSteered } from "./steering.ts";

/** A host may accept a prompt some time before it begins to work on it, and be idle in between. */
const BEGIN_MS = 20_000;

const POLL_LATER: RunEffect = { type: "poll", soon: false };
const POLL_SOON: RunEffect = { type: "poll", soon: true };

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
  const verdict = run.stopping?.verdict ?? judged(run, evidence, announced);
  const counted = withMessages(run, evidence);
  const paused = pauseForError(counted, verdict, evidence, at);
  if (paused !== null) return paused;
  const ended = end(run, verdict, progressOf(counted, at), at);
  // Perhaps it waits behind a person's turn, and the error is that one's: it must not begin after its end.
  return begun || run.isHostDead
    ? ended
    : { run: ended.run, effects: [{ type: "abandon", isThere: true }, ...ended.effects] };
}

/** The host's program died: what the run had finished counts. */
export function settleDead(run: LiveRun, evidence: Evidence, reason: string, at: Moment): RunStep {
  const progress = progressOf(withMessages(run, evidence), at);
  return then(deliver(run, evidence, at), (next) => end(next, judged(next, evidence, reason), progress, at));
}

/** A stop of ours that the host has not answered shows in its session like one by somebody else. */
function judged({ stopping, triedStop }: LiveRun, evidence: Evidence, announced: string | null): Verdict {
  const ours = stopping?.verdict ?? triedStop;
  return (evidence.error?.aborted ? ours : null) ?? judge(evidence, announced);
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

/** Events and messages may each have missed something. */
function withMessages(run: LiveRun, { progress }: Evidence): LiveRun {
  const { activity } = run;
  const totals = fullerProgress(totalsOf(activity), addProgress(activity.base, progress));
  return { ...run, activity: basedOn(activity, totals) };
}
