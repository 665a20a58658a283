/** How the phase of a live run changes, and what it waits for: requests, their answers, signs of work. Pure. */
import type { Phase, PhaseDetail } from "../task.ts";
import { counted, unblocked, type WorkReport } from "./activity.ts";
import { type RunStep, unchanged } from "./effects.ts";
import { isWanted, type LiveRun, openRequest, type Waiting } from "./live-run.ts";
import type { Moment } from "./moment.ts";

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

export function retry(run: LiveRun, { reason, count }: { reason: string; count: number }, at: Moment): RunStep {
  return enterPhase(run, "retrying", { kind: "retrying", reason, count }, at);
}

/** It works again, unless a request is still open. */
function resumeWork(run: LiveRun, at: Moment, answer: PhaseDetail | null = null): RunStep {
  const open = openRequest(run);
  return enterPhase(run, open === null ? "working" : "waiting", open ?? answer, at);
}

export function ask(run: LiveRun, { requestId, asks, text }: Omit<Waiting, "kind">, at: Moment): RunStep {
  const waiting = { kind: "waiting", requestId, asks, text } as const;
  const activity = run.requests.size === 0 ? { ...run.activity, askedAt: at.awake } : run.activity;
  const requests = new Map(run.requests).set(requestId, waiting);
  return enterPhase({ ...run, activity, requests }, "waiting", waiting, at);
}

export function answer(run: LiveRun, requestIds: readonly string[], detail: PhaseDetail | null, at: Moment): RunStep {
  if (requestIds.length === 0) return unchanged(run);
  const requests = new Map([...run.requests].filter(([id]) => !requestIds.includes(id)));
  const isUnblocked = run.requests.size > 0 && requests.size === 0;
  const activity = isUnblocked ? unblocked(run.activity, at) : run.activity;
  const answered = new Set([...run.answered, ...requestIds]);
  return resumeWork({ ...run, activity, requests, answered }, at, detail);
}

/** The host says that the session is busy. */
export function busy(run: LiveRun, at: Moment): RunStep {
  return isEndedBy(run, "busy") ? resumeWork(run, at) : unchanged(run);
}

/** A sign of work: counted, and written with others. */
export function observe(run: LiveRun, report: WorkReport, at: Moment): RunStep {
  const seen = { ...run, activity: counted(run.activity, report, at), isSaving: true };
  const { run: after, effects } = isEndedBy(run, "work") ? resumeWork(seen, at) : unchanged(seen);
  return { run: after, effects: run.isSaving ? effects : [...effects, { type: "wake", name: "save", ms: SAVE_MS }] };
}
