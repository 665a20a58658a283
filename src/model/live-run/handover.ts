/**
 * How a run's prompt reaches its host, and what becomes of it when the call fails: a timeout does not prove that the
 * prompt did not arrive. The session is searched for the run's own message, for a bounded time; what cannot be found is
 * stopped before the run is called failed. Pure. A prompt is sent at most once.
 */
import { type Evidence, SESSION_DELETED } from "../evidence.ts";
import type { Limits } from "../limits.ts";
import type { Task } from "../task.ts";
import { accepted } from "./activity.ts";
import { type RunEffect, type RunStep, then, unchanged } from "./effects.ts";
import { end } from "./ending.ts";
import { adoptedRun, type DoubtfulStage, isWanted, type LiveRun } from "./live-run.ts";
import type { Moment } from "./moment.ts";
import { enterPhase } from "./phases.ts";
import { inspect } from "./settling.ts";

/** How long the session is searched for the prompt. */
const DOUBT_MS = 60_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/** What a search for the prompt found. */
type Found = "there" | "absent" | "gone" | "unknown";

/** Takes over a run that is already at work. */
export function adopt(task: Task, limits: Limits, at: Moment): RunStep {
  const run = adoptedRun(task, limits, at);
  const isEarly = run.phase === "queued" || run.phase === "starting";
  const step = isEarly ? enterPhase(run, "working", null, at) : unchanged(run);
  return { run: step.run, effects: [...step.effects, { type: "poll", soon: true }] };
}

/** There is a slot, and no launch is under way. */
export function begin(run: LiveRun, at: Moment): RunStep {
  if (run.stage.name !== "unstarted" || isEnding(run)) return unchanged(run);
  const started = run.phase === "queued" ? enterPhase(run, "starting", null, at) : unchanged(run);
  return then(started, run.isCondensed ? condense : prompt);
}

function condense(run: LiveRun): RunStep {
  return { run: { ...run, stage: { name: "condensing" } }, effects: [{ type: "condense" }] };
}

function prompt(run: LiveRun): RunStep {
  return { run: { ...run, stage: { name: "prompting", isEndHeard: false } }, effects: [{ type: "prompt" }] };
}

/** What was heard before belongs to others, also that a program ended: the prompt goes to the next one. */
export function sending(run: LiveRun): RunStep {
  if (run.stage.name !== "prompting") return unchanged(run);
  const stage = { ...run.stage, isEndHeard: false };
  return unchanged({ ...run, stage, announced: null, idleHeardAt: null, isHostDead: false });
}

/** It is not to be prompted any more. */
function isEnding({ stopping, ending }: LiveRun): boolean {
  return stopping !== null || ending !== null;
}

export function condensed(run: LiveRun): RunStep {
  return run.stage.name === "condensing" && !isEnding(run) ? prompt(run) : unchanged(run);
}

export function notCondensed(run: LiveRun, error: string, at: Moment): RunStep {
  return run.stage.name === "condensing" ? end(run, { outcome: "error", error }, null, at) : unchanged(run);
}

/** The host has the prompt: it said so, or the prompt was found. */
export function accept(run: LiveRun, at: Moment): RunStep {
  const { stage } = run;
  if (stage.name !== "prompting" && stage.name !== "doubtful") return unchanged(run);
  const working: LiveRun = {
    ...run,
    stage: { name: "working", acceptedAt: at.awake, workSeenAt: at.awake, idle: null },
    activity: accepted(run.activity, at),
  };
  const begun = then(unchanged(working), (next) => {
    // The stop that is under way, or that came with the end, may have come before the prompt.
    if (!isWanted(next)) return { run: next, effects: [{ type: "sweep" }] };
    // A request or a retry may have come before the confirmation: it still holds.
    return next.phase === "starting" ? enterPhase(next, "working", null, at) : unchanged(next);
  });
  const checked = then(begun, (next) => (stage.isEndHeard ? inspect(next, { name: "hint" }) : unchanged(next)));
  return { run: checked.run, effects: [...checked.effects, { type: "poll", soon: false }] };
}

/** The host certainly does not have the prompt. */
export function refuse(run: LiveRun, error: string, at: Moment): RunStep {
  const verdict = run.stopping?.verdict ?? ({ outcome: "error", error } as const);
  return end({ ...run, stage: { name: "failed" } }, verdict, null, at);
}

/** The answer of a prompt that came after the run was over. */
export function promptedTooLate(run: LiveRun, isKnown: boolean): RunStep {
  if (run.stage.name !== "over" || !run.stage.isPromptOut) return unchanged(run);
  const effects: RunEffect[] = isKnown ? [{ type: "sweep" }] : [{ type: "abandon" }, { type: "sweep" }];
  return { run: { ...run, stage: { ...run.stage, isPromptOut: false } }, effects };
}

export function doubt(run: LiveRun, problem: string, at: Moment): RunStep {
  if (run.stage.name !== "prompting") return unchanged(run);
  const { isEndHeard } = run.stage;
  const pauseMs = FIRST_PAUSE_MS;
  return search(run, {
    name: "doubtful",
    isEndHeard,
    problem,
    since: at.awake,
    pauseMs,
    search: "running",
    isLast: false,
  });
}

/** The host reports the prompt's own message: it arrived, whatever a search that began before will say. */
export function seen(run: LiveRun, at: Moment): RunStep {
  return run.stage.name === "doubtful" && run.ending === null ? accept(run, at) : unchanged(run);
}

/** The host reports an end, its program ended, or the pause is over: the session is searched again. */
export function searchAgain(run: LiveRun): RunStep {
  const { stage } = run;
  if (stage.name !== "doubtful") return unchanged(run);
  if (stage.search === "paused") return search(run, stage);
  return unchanged({ ...run, stage: { ...stage, search: "again" } });
}

function search(run: LiveRun, stage: DoubtfulStage): RunStep {
  const pauseMs = Math.min(stage.pauseMs * 2, LONGEST_PAUSE_MS);
  return {
    run: { ...run, stage: { ...stage, pauseMs, search: "running" } },
    effects: [
      { type: "inspect", purpose: { name: "search" } },
      { type: "wake", name: "search", ms: stage.pauseMs },
    ],
  };
}

export function foundIn({ prompted, begun }: Evidence): Found {
  return prompted || begun ? "there" : "absent";
}

export function searched(run: LiveRun, found: Found, at: Moment): RunStep {
  const { stage } = run;
  if (stage.name !== "doubtful" || run.ending !== null) return unchanged(run);
  if (found === "there") return accept(run, at);
  if (found === "gone") {
    // The prompt may have arrived before the session was deleted, and its agent work on.
    const step = refuse(run, SESSION_DELETED, at);
    return { run: step.run, effects: [{ type: "sweep" }, ...step.effects] };
  }
  if (found === "absent" && run.isHostDead) {
    // A request dies with the program that it was sent to: most likely it will not arrive any more.
    const step = refuse(run, run.announced ?? stage.problem, at);
    return { run: step.run, effects: [{ type: "abandon" }, ...step.effects] };
  }
  if (at.awake - stage.since >= DOUBT_MS) {
    // This process may have stood still during the only search, which then failed: it looks once more.
    if (found === "unknown" && !stage.isLast) return search(run, { ...stage, isLast: true });
    return abandon(run, found, stage.problem);
  }
  if (stage.search === "again") return search(run, stage);
  const paused = { ...stage, search: "paused" } as const;
  if (found === "unknown") return unchanged({ ...run, stage: paused });
  // It was not there when this search began: what the host announced before that concerns another prompt.
  return unchanged({ ...run, announced: null, stage: { ...paused, isEndHeard: false } });
}

function abandon(run: LiveRun, found: "absent" | "unknown", problem: string): RunStep {
  const known =
    found === "absent" ? "the prompt did not arrive in its session" : "it is not known whether the prompt arrived";
  const report = `${known}: ${problem}. After ${DOUBT_MS / 1000} s, `;
  return {
    run: { ...run, stage: { name: "abandoning", report } },
    effects: [{ type: "abandon" }, { type: "abort", purpose: { name: "abandon" } }],
  };
}

/** The session of a prompt that was given up was stopped, or could not be stopped for this reason. */
export function abandoned(run: LiveRun, error: string | null, at: Moment): RunStep {
  if (run.stage.name !== "abandoning") return unchanged(run);
  const stopped =
    error === null
      ? "the session was stopped"
      : `the session could not be stopped either (${error}): look at it before you go on`;
  const step = refuse(run, `${run.stage.report}${stopped}.`, at);
  // Its agent may be at work all the same.
  return error === null ? step : { run: step.run, effects: [{ type: "sweep" }, ...step.effects] };
}
