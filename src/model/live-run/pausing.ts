/**
 * How a run waits for its provider, or begins again after a stall: the pause is stored, then the host is stopped, and
 * when the time has come the run is prompted to go on in the same session. Pure. Invariants: whoever dies in between
 * leaves a pause that another process takes up; each prompt has an id of its own, stored before it is sent.
 */
import { type Evidence, judge, type Verdict } from "../evidence.ts";
import { quietLimit, quotaBreach, type Standing, stallBreach, stallText } from "../limits.ts";
import type { PauseCause, RetryingDetail, Task } from "../task.ts";
import { paused as pausedActivity } from "./activity.ts";
import { type RunEffect, type RunStep, unchanged } from "./effects.ts";
import { end, stop } from "./ending.ts";
import {
  adoptedRun,
  isWanted,
  type LiveRun,
  openRequest,
  type PausedStage,
  progressOf,
  workingUntil,
} from "./live-run.ts";
import type { Moment } from "./moment.ts";
import { behindPrompt, deliver, isSteered } from "./steering.ts";

const POLL_LATER: RunEffect = { type: "poll", soon: false };
const READ: RunEffect = { type: "inspect", purpose: { name: "pause" } };
/** Runs that wait for one time do not all begin at once: each waits longer, by up to a tenth and up to a minute. */
const STAGGER_MS = 60_000;
/** Where nobody knows when the provider will be back, a run waits twice as long each time. */
const FIRST_GUESS_MS = 5 * 60_000;
const LONGEST_GUESS_MS = 60 * 60_000;

/** How long a run that is due is kept whose session could not be read, however often that was tried. */
const UNREAD_MS = 30 * 60_000;
const UNREADABLE =
  "its session could not be read when it was to go on, so nobody knows what it had done; look at the session, then resume the task";

interface Pause {
  cause: PauseCause;
  until: number;
  reason: string;
}

const GO_ON: Record<PauseCause, string> = {
  quota:
    "The provider of your model refused requests for a while (a quota or a rate limit). It is back now. Go on where you stopped: look at what is done already, and do not repeat it.",
  stall:
    "You showed no sign of life for a long time, so your last step was stopped. Go on where you stopped: look at what is done already, and avoid what hung.",
};

/**
 * A retry means a pause if the provider named a time that is too far away for the host. A run that may not wait that
 * long is stopped, but only by a status call: an event may be late, and the run may have its answer.
 */
export function pauseForRetry(
  run: LiveRun,
  retry: Omit<RetryingDetail, "kind">,
  source: "event" | "status",
  at: Moment,
): RunStep | null {
  const { until, reason } = retry;
  if (until === undefined || until - at.wall <= run.limits.hostWaitMs) return null;
  if (run.stage.name !== "working" || run.cancelReason !== null || !isWanted(run)) return null;
  // What a person is asked stays open.
  if (openRequest(run) !== null) return null;
  const breach = quotaBreach({ until, at: at.wall, reason, before: run.pauses }, run.limits);
  if (breach !== null) return source === "status" ? stop(run, { outcome: "error", error: breach }, at) : null;
  return enterPause(run, { cause: "quota", until, reason }, at);
}

/** The turn ended with an error: a pause, if the provider said when it will be back; null if that is not so. */
export function pauseForError(run: LiveRun, verdict: Verdict, { error }: Evidence, at: Moment): RunStep | null {
  if (verdict.outcome !== "error" || error?.until === undefined) return null;
  if (run.cancelReason !== null || !isWanted(run)) return null;
  const { message: reason } = error;
  const until = error.until ?? at.wall + Math.min(LONGEST_GUESS_MS, FIRST_GUESS_MS * 2 ** (run.pauses?.quota ?? 0));
  const breach = quotaBreach({ until, at: at.wall, reason, before: run.pauses }, run.limits);
  if (breach !== null) return end(run, { outcome: "error", error: breach }, progressOf(run, at), at);
  return enterPause(run, { cause: "quota", until, reason }, at);
}

/** A quiet run is stopped or restarted, as its limits say; null if it is only to be shown. */
export function afterStall(run: LiveRun, standing: Standing, at: Moment): RunStep | null {
  const { stallPolicy, stallRestarts } = run.limits;
  if (stallPolicy === "tell") return null;
  const what = stallText(standing, run.limits);
  const restarts = run.pauses?.stall ?? 0;
  if (stallPolicy === "restart" && restarts < stallRestarts)
    return enterPause(run, { cause: "stall", until: at.wall, reason: what }, at);
  return stop(run, { outcome: "error", error: stallBreach(what, restarts) }, at);
}

export function isQuiet(standing: Standing, { limits }: LiveRun): boolean {
  return standing.quietMs >= quietLimit(standing, limits);
}

function enterPause(run: LiveRun, { cause, until: named, reason }: Pause, at: Moment): RunStep {
  const progress = progressOf(run, at);
  const wait = Math.max(0, named - at.wall);
  const until = Math.round(at.wall + wait + run.stagger * Math.min(STAGGER_MS, wait / 10));
  const event = { type: "run.paused", at: at.wall, run: run.number, cause, until, reason, progress } as const;
  const { quota = 0, stall = 0, waitMs = 0 } = run.pauses ?? {};
  const counts = { quota, stall, waitMs: waitMs + (cause === "quota" ? until - at.wall : 0) };
  const paused: LiveRun = {
    ...run,
    stage: pausedStage({ cause, until }, "writing", at),
    phase: "paused",
    phased: { event, isMissing: false },
    activity: pausedActivity(run.activity, workingUntil(run, at)),
    pauses: { ...counts, [cause]: counts[cause] + 1 },
    retries: null,
    requests: new Map(),
    applying: null,
    idleHeardAt: null,
    announced: null,
  };
  return { run: paused, effects: [{ type: "write", event }] };
}

/** `longestMs`: it was not to wait longer than that, whatever the wall clock says by now. */
function pausedStage(
  { cause, until }: Pick<Pause, "cause" | "until">,
  state: PausedStage["state"],
  at: Moment,
  longestMs = Number.POSITIVE_INFINITY,
): PausedStage {
  const waitMs = Math.min(longestMs, Math.max(0, until - at.wall));
  return { name: "paused", cause, until, dueAt: at.awake + waitMs, state };
}

/** The pause is stored: from now on the host need not, and must not, do anything for the run. */
export function pauseWritten(run: LiveRun): RunStep {
  return run.stage.name === "paused" && run.stage.state === "writing" ? halt(run, run.stage) : unchanged(run);
}

function halt(run: LiveRun, stage: PausedStage): RunStep {
  const effects: RunEffect[] = [{ type: "abort", purpose: { name: "pause" } }];
  return { run: { ...run, stage: { ...stage, state: "stopping" } }, effects };
}

export function halted(run: LiveRun, isStopped: boolean): RunStep {
  const { stage } = run;
  if (stage.name !== "paused" || stage.state !== "stopping") return unchanged(run);
  if (!isStopped) return { run: { ...run, stage: { ...stage, state: "unstopped" } }, effects: [POLL_LATER] };
  const resting: PausedStage = { ...stage, state: "resting", isUnread: true };
  return { run: { ...run, stage: resting }, effects: [READ, { type: "rest" }, POLL_LATER] };
}

/**
 * What the session holds after the stop. The word of a retry may be late, or the host's own try may have succeeded
 * before it was stopped: a run that has its answer is over, and need not wait for its provider.
 */
export function readInPause(run: LiveRun, evidence: Evidence | null, at: Moment): RunStep {
  const { stage } = run;
  const isAwaited = stage.name === "paused" && (stage.state === "resting" || stage.state === "coming");
  if (!isAwaited || run.cancelReason !== null || !isWanted(run)) return unchanged(run);
  const { isUnread: _read, unreadSince = at.awake, ...rest } = stage;
  if (evidence === null) {
    const isTooLong = at.awake >= Math.max(stage.dueAt, unreadSince) + UNREAD_MS;
    if (isTooLong) return end(run, { outcome: "error", error: UNREADABLE }, progressOf(run, at), at);
    return { run: { ...run, stage: { ...rest, isUnread: true, unreadSince } }, effects: [POLL_LATER] };
  }
  const receipts = deliver(run, evidence, at);
  // Receipts are stored before the end, which would call such a message failed.
  if (receipts.effects.length > 0)
    return { run: { ...receipts.run, stage: { ...rest, isUnread: true } }, effects: [...receipts.effects, POLL_LATER] };
  const read = { ...run, stage: rest };
  const verdict = judge(evidence, null);
  const isOver = verdict.outcome === "completed" && !evidence.unfinished && !isSteered(run);
  return isOver ? end(read, verdict, progressOf(read, at), at) : unchanged(read);
}

/** A poll: stops and reads again what could not be, and asks for a turn when the time has come. */
export function pausedPoll(run: LiveRun, at: Moment): RunStep {
  const { stage } = run;
  if (stage.name !== "paused" || run.cancelReason !== null || !isWanted(run)) return unchanged(run);
  if (stage.state === "unstopped") return halt(run, stage);
  if (stage.state !== "resting") return unchanged(run);
  // It may have its answer: it is not prompted again before that is known.
  if (stage.isUnread) return { run, effects: [READ] };
  if (at.wall < stage.until && at.awake < stage.dueAt) return unchanged(run);
  return { run: { ...run, stage: { ...stage, state: "coming" } }, effects: [{ type: "turn" }] };
}

/** It has a slot. */
export function takeTurn(run: LiveRun): RunStep {
  const { stage } = run;
  if (stage.name !== "paused" || stage.state !== "coming") return unchanged(run);
  if (!isWanted(run)) return restAgain(run, stage);
  return { run: { ...run, stage: { ...stage, state: "continuing" } }, effects: [{ type: "continue" }] };
}

/** The id of its next prompt is stored: it is sent now, and as any other. */
export function continued(run: LiveRun): RunStep {
  const { stage } = run;
  if (stage.name !== "paused" || stage.state !== "continuing") return unchanged(run);
  if (!isWanted(run)) return restAgain(run, stage);
  const steering = behindPrompt(run.steering);
  return {
    run: { ...run, stage: { name: "prompting", isEndHeard: false }, phase: "starting", phased: null, steering },
    effects: [{ type: "prompt", text: GO_ON[stage.cause] }],
  };
}

export function notContinued(run: LiveRun): RunStep {
  const { stage } = run;
  return stage.name === "paused" && stage.state === "continuing" ? restAgain(run, stage) : unchanged(run);
}

/** It could not go on, or is being stopped, which the host may fail to do: the next poll sees whether it goes on. */
function restAgain(run: LiveRun, stage: PausedStage): RunStep {
  return { run: { ...run, stage: { ...stage, state: "resting" } }, effects: [{ type: "rest" }, POLL_LATER] };
}

/** Whether a run whose process died goes on by itself: it was paused, waited for its provider, or was not prompted. */
export function goesOn({ phase, phaseDetail, run }: Task, evidence: Evidence): boolean {
  if (phase === "paused") return true;
  if (run.pauses !== null && !evidence.prompted) return true;
  if (evidence.answer !== null) return false;
  if (evidence.error !== null) return evidence.error.until !== undefined;
  // Perhaps it was a person's turn that waited: then its own prompt may still arrive.
  return evidence.prompted && phaseDetail?.kind === "retrying" && phaseDetail.until !== undefined;
}

/** Takes over such a run from a dead process. Its session may be at work all the same: it is stopped first. */
export function adoptPaused(task: Task, limits: LiveRun["limits"], at: Moment): RunStep {
  const run = adoptedRun(task, limits, at);
  const { phaseDetail: detail } = task;
  if (detail?.kind === "retrying" && detail.until !== undefined) {
    const { until, reason } = detail;
    const breach = quotaBreach({ until, at: at.wall, reason, before: run.pauses }, limits);
    if (breach !== null) return stop(run, { outcome: "error", error: breach }, at);
    const step = enterPause(run, { cause: "quota", until, reason }, at);
    return { run: step.run, effects: [...step.effects, POLL_LATER] };
  }
  const pause = detail?.kind === "paused" ? detail : { cause: "quota" as const, until: at.wall };
  // The wall clock may have been set back since then.
  const stage = pausedStage(pause, "unstopped", at, task.run.pauses?.waitMs ?? 0);
  const activity = pausedActivity(run.activity, workingUntil(run, at));
  return { run: { ...run, stage, activity, requests: new Map() }, effects: [{ type: "poll", soon: true }] };
}
