/** How the phase of a live run changes, and what it waits for: requests, their answers, signs of work. Pure. */
import type { Ruling } from "../request-policy.ts";
import type { Phase, PhaseDetail, RetryingDetail } from "../task.ts";
import { counted, unblocked, type WorkReport, workedBeside } from "./activity.ts";
import { type RunStep, then, unchanged } from "./effects.ts";
import { type Answered, isWanted, type LiveRun, openRequest, type Waiting } from "./live-run.ts";
import type { Moment } from "./moment.ts";
import { isRecent, withRecent } from "./recent-ids.ts";

/** Progress is written at most this often. */
const SAVE_MS = 500;

/**
 * What ends a phase besides the end of the run: a sign of work (text, a tool call), or the host's word that the session
 * is busy. Complete, so that a new phase does not compile without it. `waiting` ends when the last request is answered.
 */
const ENDED_BY: Record<Phase, { work: boolean; busy: boolean }> = {
  queued: { work: false, busy: false },
  starting: { work: false, busy: false },
  working: { work: false, busy: false },
  retrying: { work: true, busy: true },
  waiting: { work: false, busy: false },
  stalled: { work: true, busy: false },
  // A paused run is prompted; what its session does before that is somebody else's.
  paused: { work: false, busy: false },
};

function isEndedBy({ phase }: LiveRun, what: "work" | "busy"): boolean {
  return phase !== null && ENDED_BY[phase][what];
}

export function enterPhase(run: LiveRun, phase: Phase, detail: PhaseDetail | null, at: Moment): RunStep {
  // It resumes its work: the silence before does not count.
  const activity = phase === "working" ? { ...run.activity, seenAt: at.awake } : run.activity;
  const event = { type: "run.phased", at: at.wall, run: run.number, phase, detail } as const;
  const phased = { event, isMissing: false };
  return { run: { ...run, phase, phased, activity }, effects: [{ type: "write", event }] };
}

/** Writes a phase again that could not be written: what the agent asks must not stay unknown. */
export function phaseAgain(run: LiveRun): RunStep {
  const { phased } = run;
  if (!phased?.isMissing || run.cancelReason !== null || !isWanted(run)) return unchanged(run);
  return {
    run: { ...run, phased: { ...phased, isMissing: false } },
    effects: [{ type: "write", event: phased.event }],
  };
}

/** The host tries again by itself. What it has tried counts until the agent shows work. */
export function retry(run: LiveRun, detail: Omit<RetryingDetail, "kind">, at: Moment): RunStep {
  const { reason, count, next, until } = detail;
  const times = { ...(next !== undefined && { next }), ...(until !== undefined && { until }) };
  const retries = { since: run.retries?.since ?? at.awake, count: Math.max(count, run.retries?.count ?? 0), reason };
  return enterPhase({ ...run, retries }, "retrying", { kind: "retrying", reason, count, ...times }, at);
}

/** It works again, unless a request is still open. An answer is recorded even if another request follows it. */
function resumeWork(run: LiveRun, at: Moment, answer: Answered | null = null): RunStep {
  const open = openRequest(run);
  if (open === null) return enterPhase(run, "working", answer, at);
  if (answer === null) return enterPhase(run, "waiting", open, at);
  return then(enterPhase(run, "working", answer, at), (next) => enterPhase(next, "waiting", open, at));
}

/** A rule that decides at once is followed; a person is asked only if the host does not take its answer. */
export function ask(run: LiveRun, { ruling = null, ...asked }: Asked, at: Moment): RunStep {
  const { requestId, asks, text } = asked;
  const request: Waiting = { kind: "waiting", requestId, asks, text, at: at.wall };
  if (ruling === null) return wait(run, request, at);
  const { decision, reason, afterMs } = ruling;
  if (afterMs === 0) return follow(run, request, { decision, reason });
  return wait(run, { ...request, policy: { until: at.wall + afterMs, decision, reason } }, at);
}

type Asked = Pick<Waiting, "requestId" | "asks" | "text"> & { ruling?: Ruling | null };

function wait(run: LiveRun, request: Waiting, at: Moment): RunStep {
  const activity = run.requests.size === 0 ? { ...run.activity, askedAt: at.awake } : run.activity;
  const requests = new Map(run.requests).set(request.requestId, request);
  return enterPhase({ ...run, activity, requests }, "waiting", request, at);
}

function follow(run: LiveRun, request: Waiting, { decision, reason }: Pick<Ruling, "decision" | "reason">): RunStep {
  const ruling = new Set(run.ruling).add(request.requestId);
  return { run: { ...run, ruling }, effects: [{ type: "rule", request, decision, reason }] };
}

/**
 * Nobody answered in time. Times are on the wall clock: they outlive the process that the agent asked in. One at a
 * time: the next poll sees to the next.
 */
export function followDue(run: LiveRun, at: Moment): RunStep {
  if (run.cancelReason !== null || !isWanted(run)) return unchanged(run);
  for (const request of run.requests.values()) {
    const { requestId, policy } = request;
    if (policy && policy.until <= at.wall && !run.ruling.has(requestId)) return follow(run, request, policy);
  }
  return unchanged(run);
}

/** If the host did not take the answer, a person is asked. What is open and due is tried again by the next poll. */
export function ruled(run: LiveRun, request: Waiting, isTaken: boolean, at: Moment): RunStep {
  const { requestId } = request;
  const ruling = new Set([...run.ruling].filter((id) => id !== requestId));
  const after = { ...run, ruling };
  const isKnown = run.requests.has(requestId) || isRecent(run.answered, requestId);
  return isTaken || isKnown || run.stage.name === "paused" ? unchanged(after) : wait(after, request, at);
}

export function answer(run: LiveRun, requestIds: readonly string[], detail: Answered | null, at: Moment): RunStep {
  if (requestIds.length === 0) return unchanged(run);
  const requests = new Map([...run.requests].filter(([id]) => !requestIds.includes(id)));
  const isUnblocked = run.requests.size > 0 && requests.size === 0;
  const activity = isUnblocked ? unblocked(run.activity, at) : run.activity;
  const answered = withRecent(run.answered, requestIds);
  // While another request is open, a sign of work may come from beside the answered one.
  const applying = requests.size === 0 ? (detail?.requestId ?? null) : null;
  return resumeWork({ ...run, activity, requests, answered, applying }, at, detail);
}

/** After an answer, the first sign of work is its receipt. */
function applied(run: LiveRun, at: Moment): RunStep {
  const { applying: requestId, number } = run;
  if (requestId === null) return unchanged(run);
  const event = { type: "request.applied", at: at.wall, run: number, requestId } as const;
  return { run: { ...run, applying: null }, effects: [{ type: "write", event }] };
}

/** The host says that the session is busy. */
export function busy(run: LiveRun, at: Moment): RunStep {
  return isEndedBy(run, "busy") ? resumeWork(run, at) : unchanged(run);
}

/** A sign of work: counted, and written with others. */
export function observe(run: LiveRun, report: WorkReport, at: Moment): RunStep {
  const work = counted(run.activity, report, at);
  const activity = run.requests.size === 0 ? work : workedBeside(work, at);
  const seen = { ...run, activity, isSaving: true, retries: null };
  const { run: after, effects } = isEndedBy(run, "work") ? resumeWork(seen, at) : applied(seen, at);
  // What counts in a budget is written at once: others may be about to use what is left.
  const isUrgent = run.budgeting !== null && report.type === "usage.counted";
  if (run.isSaving && !isUrgent) return { run: after, effects };
  return { run: after, effects: [...effects, { type: "wake", name: "save", ms: isUrgent ? 0 : SAVE_MS }] };
}
