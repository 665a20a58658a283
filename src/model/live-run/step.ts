/**
 * The only place where a live run changes: (run, input) → (run, effects). Pure and total: it never throws, has no
 * clock, and every input in every stage has an answer, which may be to do nothing. Invariants: a run is prompted at
 * most once, ends at most once and only on evidence or a command, and can end from every stage. What its task becomes,
 * `transition` decides.
 */
import { breachOf, retryBreach, type Standing } from "../limits.ts";
import { isNewCall, standingOf } from "./activity.ts";
import { type RunStep, then, unchanged } from "./effects.ts";
import { interrupt, lose, notStopped, notWritten, stop, stopped, writeAgain, written } from "./ending.ts";
import {
  abandoned,
  accept,
  begin,
  condensed,
  doubt,
  foundIn,
  notCondensed,
  promptedTooLate,
  refuse,
  searchAgain,
  searched,
  seen,
  sending,
} from "./handover.ts";
import type { OwnSessionInput, PollInput, ResultInput, RunInput, SessionTreeInput, SteeringInput } from "./inputs.ts";
import {
  isOver,
  isPrompted,
  isWanted,
  type LiveRun,
  openRequest,
  progressOf,
  seenAtWork,
  workingUntil,
} from "./live-run.ts";
import type { Moment } from "./moment.ts";
import {
  afterStall,
  continued,
  halted,
  isQuiet,
  notContinued,
  pausedPoll,
  pauseForRetry,
  pauseWritten,
  readInPause,
  takeTurn,
} from "./pausing.ts";
import { answer, ask, busy, enterPhase, followDue, observe, phaseAgain, retry, ruled } from "./phases.ts";
import { isRecent } from "./recent-ids.ts";
import { checkEnd, deleted, inspect, notInspected, settle, settleDead } from "./settling.ts";
import { deliver, lookForTaken, sendNext, steer, steerAgain } from "./steering.ts";
import { callBegan, callEnded, phaseBegan, type WorkSpans } from "./work-spans.ts";

export function step(run: LiveRun, input: RunInput, at: Moment): RunStep {
  const next = isOver(run) ? afterTheEnd(run, input) : sendNext(changed(run, input, at));
  const spans = spansAfter(run, next.run, input, at);
  return spans === run.spans ? next : { run: { ...next.run, spans }, effects: next.effects };
}

/** What was counted as work, and each change of the phase. */
function spansAfter(before: LiveRun, after: LiveRun, input: RunInput, { wall }: Moment): WorkSpans {
  let { spans } = before;
  const isCounted = after.activity !== before.activity;
  if (input.type === "tool.called" && isCounted && isNewCall(before.activity, input))
    spans = callBegan(spans, input.callId, input.name, wall);
  if (input.type === "tool.ended" && isCounted) spans = callEnded(spans, input.callId, input.isFailed, wall);
  return after.phase === before.phase ? spans : phaseBegan(spans, after.phase, wall);
}

function changed(run: LiveRun, input: RunInput, at: Moment): RunStep {
  switch (input.type) {
    case "turn.delayed":
      return run.stage.name === "unstarted" ? enterPhase(run, "queued", null, at) : unchanged(run);
    case "turn.came":
      return run.stage.name === "paused" ? takeTurn(run) : begin(run, at);
    case "host.ended":
      // Before its prompt is sent, and in a pause, nothing of it was at work there.
      return isPrompted(run) && run.stage.name !== "paused"
        ? hostEnded({ ...run, announced: input.reason, isHostDead: true }, input.reason)
        : unchanged(run);
    case "request.found":
    case "status.read":
    case "poll.done":
      return polled(run, input, at);
    case "woken":
      return input.name === "save" ? save(run, at) : searchAgain(run);
    case "cancel": {
      const { reason } = input;
      return stop({ ...run, cancelReason: run.cancelReason ?? reason }, { outcome: "cancelled", reason }, at);
    }
    case "budgets.read":
      return budgetsRead(run, input, at);
    case "interrupt":
      return interrupt(run, input.error, at);
    case "lose":
      return lose(run);
    default:
      if (isSteering(input)) return steer(run, input, at);
      return isResult(input) ? resulted(run, input, at) : reported(run, input, at);
  }
}

/** Only a prompt that was still on its way is seen to: nothing may be left at work. */
function afterTheEnd(run: LiveRun, input: RunInput): RunStep {
  if (input.type === "prompt.accepted") return promptedTooLate(run, true);
  return input.type === "prompt.unanswered" ? promptedTooLate(run, false) : unchanged(run);
}

/** The host reports something about the run's session, or about one below it. */
function reported(run: LiveRun, input: OwnSessionInput | SessionTreeInput, at: Moment): RunStep {
  if (input.type === "session.deleted") return deleted(run, at);
  // Before its prompt is sent, and in a pause, what happens in the session belongs to somebody else.
  if (!isPrompted(run) || run.stage.name === "paused") return unchanged(run);
  switch (input.type) {
    case "session.idle":
      return then(checkEnd({ ...run, idleHeardAt: at.awake }), searchAgain);
    case "session.failed":
      // A stop shows in the messages of the turn that it stopped, which may be that of another prompt.
      return then(checkEnd(input.aborted ? run : { ...run, announced: input.error }), searchAgain);
    case "prompt.seen":
      return seen(run, at);
    case "other.taken":
      return lookForTaken(run);
    default:
      return reportedAtWork(seenAtWork(run, at), input, at);
  }
}

function reportedAtWork(
  run: LiveRun,
  input: Extract<OwnSessionInput, { type: "session.working" }> | SessionTreeInput,
  at: Moment,
): RunStep {
  switch (input.type) {
    case "session.working":
      // An idle or an error that came before belongs to another run.
      // From a program that has died, it was only late.
      return busy({ ...run, idleHeardAt: null, announced: run.isHostDead ? run.announced : null }, at);
    case "session.retrying":
      return pauseForRetry(run, input, "event", at) ?? retry(run, input, at);
    case "session.asked":
      return ask(run, input, at);
    case "session.answered":
      return answer(run, input.requestIds, input.answer, at);
    case "tool.called":
      // A fast agent would call a lot until the next poll.
      return then(observe(run, input, at), (next) => stopAtBreach(next, at));
    default:
      return observe(run, input, at);
  }
}

/** What a run had finished counts; a prompt that is on its way fails by itself. */
function hostEnded(run: LiveRun, reason: string): RunStep {
  return run.stage.name === "working" ? inspect(run, { name: "host.ended", reason }) : searchAgain(run);
}

function polled(run: LiveRun, input: PollInput, at: Moment): RunStep {
  switch (input.type) {
    case "request.found": {
      const { requestId } = input;
      const isOpen = run.requests.has(requestId) || run.ruling.has(requestId);
      const isKnown = isOpen || isRecent(run.answered, requestId);
      const isOurs = isPrompted(run) && run.stage.name !== "paused";
      return isOurs && !isKnown ? ask(seenAtWork(run, at), input, at) : unchanged(run);
    }
    case "status.read":
      return statusRead(run, input, at);
    case "poll.done":
      return then(
        then(
          then(phaseAgain(run), (next) => followDue(next, at)),
          (next) => steerAgain(next, at),
        ),
        (next) => saveTime(checkLimits(next, input.isWaiting, at), at),
      );
  }
}

function statusRead(
  run: LiveRun,
  { status, askedAt }: Extract<PollInput, { type: "status.read" }>,
  at: Moment,
): RunStep {
  const { stage } = run;
  // A call that was made before the prompt was accepted says nothing about this run.
  if (stage.name !== "working" || stage.acceptedAt >= askedAt) return unchanged(run);
  if (status === null) return inspect(run, { name: "status", askedAt });
  const listed = seenAtWork(run, at);
  switch (status.state) {
    case "retrying":
      return pauseForRetry(listed, status, "status", at) ?? retry(listed, status, at);
    case "busy":
      return busy(listed, at);
  }
}

/**
 * Repeats what failed besides the write of a phase: the write of an end, the stop of a run that is to be cancelled.
 * Lets a paused run go on when its time has come. Stops a run that exceeds its limits, and sees to one that shows no
 * sign of life, unless it waits for a person. What works beside an open request counts as any other work.
 */
function checkLimits(run: LiveRun, isWaiting: boolean, at: Moment): RunStep {
  if (run.ending !== null) return writeAgain(run, at);
  if (run.stopping !== null) return unchanged(run);
  if (run.cancelReason !== null) return stop(run, { outcome: "cancelled", reason: run.cancelReason }, at);
  if (run.stage.name === "paused") return pausedPoll(run, at);
  const isAsking = openRequest(run) !== null;
  const standing = standingAt(run, at);
  if (standing === null) return unchanged(run);
  const breach = breachOf(standing, run.limits) ?? (isAsking ? null : triedTooOften(run, at));
  if (breach !== null) return stop(run, { outcome: "error", error: breach }, at);
  if (isAsking) return unchanged(run);
  // From the end of that on it may be quiet again.
  if (isWaiting) return unchanged({ ...run, activity: { ...run.activity, seenAt: at.awake } });
  if (run.phase !== "working" || !isQuiet(standing, run)) return unchanged(run);
  return afterStall(run, standing, at) ?? enterPhase(run, "stalled", null, at);
}

/** It has called a tool, so it has not finished. */
function stopAtBreach(run: LiveRun, at: Moment): RunStep {
  const standing = run.cancelReason === null && isWanted(run) ? standingAt(run, at) : null;
  const breach = standing && breachOf(standing, run.limits);
  return breach === null ? unchanged(run) : stop(run, { outcome: "error", error: breach }, at);
}

function standingAt(run: LiveRun, at: Moment): Standing | null {
  return standingOf(run.activity, { ...at, awake: workingUntil(run, at) });
}

function triedTooOften({ retries, limits }: LiveRun, { awake }: Moment): string | null {
  return retries === null ? null : retryBreach({ ...retries, ms: awake - retries.since }, limits);
}

/** A run whose budget is used up is stopped. If the host fails to, the next reading stops it again. */
function budgetsRead(run: LiveRun, input: Extract<RunInput, { type: "budgets.read" }>, at: Moment): RunStep {
  const next = { ...run, budgeting: input.budgets };
  if (input.breach === null || run.cancelReason !== null || !isWanted(run)) return unchanged(next);
  return stop(next, { outcome: "error", error: input.breach }, at);
}

/** Working time counts while nothing else is seen of the run. */
function saveTime({ run, effects }: RunStep, at: Moment): RunStep {
  const isDue = run.budgeting?.isTimed === true && run.stage.name === "working" && isWanted(run);
  if (!isDue || run.isSaving || openRequest(run) !== null) return { run, effects };
  const saved = save(run, at);
  return { run: saved.run, effects: [...effects, ...saved.effects] };
}

function save(run: LiveRun, at: Moment): RunStep {
  const event = { type: "run.progressed", at: at.wall, run: run.number, progress: progressOf(run, at) } as const;
  return { run: { ...run, isSaving: false }, effects: [{ type: "write", event }] };
}

function resulted(run: LiveRun, input: ResultInput, at: Moment): RunStep {
  switch (input.type) {
    case "condensed":
      return condensed(run);
    case "condense.failed":
      return notCondensed(run, input.error, at);
    case "prompt.sending":
      return sending(run);
    case "prompt.accepted":
      return run.stage.name === "prompting" ? accept(run, at) : unchanged(run);
    case "prompt.refused":
      return run.stage.name === "prompting" ? refuse(run, input.error, at) : unchanged(run);
    case "prompt.unanswered":
      return doubt(run, input.error, at);
    case "inspected":
    case "inspect.failed":
      return inspected(run, input, at);
    case "aborted":
    case "abort.failed":
      return aborted(run, input, at);
    case "ruled":
      return ruled(run, input.request, input.isTaken, at);
    case "continued":
      return continued(run);
    case "continue.failed":
      return notContinued(run);
    case "written": {
      const stored = written(run, input.event, input.outcome);
      return input.event.type === "run.paused" ? then(stored, pauseWritten) : stored;
    }
    case "write.failed":
      return notWritten(run, input.event);
  }
}

function inspected(
  run: LiveRun,
  input: Extract<ResultInput, { type: "inspected" | "inspect.failed" }>,
  at: Moment,
): RunStep {
  const { purpose } = input;
  const evidence = input.type === "inspected" ? input.evidence : null;
  const isGone = input.type === "inspect.failed" && input.isGone;
  switch (purpose.name) {
    case "search":
      return searched(run, evidence !== null ? foundIn(evidence) : isGone ? "gone" : "unknown", at);
    case "host.ended":
      return evidence === null ? notInspected(run, isGone, at) : settleDead(run, evidence, purpose.reason, at);
    case "steering":
      return evidence === null ? unchanged(run) : deliver(run, evidence, at);
    case "usage":
      // What it had used when it was paused is counted already.
      return evidence === null || run.stage.name !== "working"
        ? unchanged(run)
        : save({ ...run, activity: { ...run.activity, read: evidence.progress } }, at);
    case "pause":
      return isGone ? notInspected(run, isGone, at) : readInPause(run, evidence, at);
    case "hint":
      return evidence === null ? notInspected(run, isGone, at) : settle(run, evidence, null, at);
    case "status":
      return evidence === null ? notInspected(run, isGone, at) : settle(run, evidence, purpose.askedAt, at);
  }
}

function aborted(run: LiveRun, input: Extract<ResultInput, { type: "aborted" | "abort.failed" }>, at: Moment): RunStep {
  const { purpose } = input;
  const error = input.type === "abort.failed" ? input.error : null;
  switch (purpose.name) {
    case "stop": {
      const isStopped = input.type === "aborted" || input.isGone;
      return isStopped ? stopped(run, purpose.attempt, at) : notStopped(run, purpose.attempt);
    }
    case "abandon":
      return abandoned(run, error, at);
    case "pause":
      return halted(run, input.type === "aborted" || input.isGone);
    case "deleted":
      return unchanged(run);
  }
}

const RESULTS: ReadonlySet<string> = new Set<ResultInput["type"]>([
  "condensed",
  "condense.failed",
  "prompt.sending",
  "prompt.accepted",
  "prompt.refused",
  "prompt.unanswered",
  "inspected",
  "inspect.failed",
  "aborted",
  "abort.failed",
  "continued",
  "continue.failed",
  "ruled",
  "written",
  "write.failed",
]);

const STEERING: ReadonlySet<string> = new Set<SteeringInput["type"]>([
  "steering.read",
  "steer.sending",
  "steer.arrived",
  "steer.refused",
  "steer.unanswered",
  "steer.dropped",
]);

function isSteering(input: RunInput): input is SteeringInput {
  return STEERING.has(input.type);
}

function isResult(input: RunInput): input is ResultInput {
  return RESULTS.has(input.type);
}
