/**
 * Everything that a live run can ask for, as data. Whoever performs an effect feeds what came of it back as an input
 * (inputs.ts); an effect that is never answered is made up for by a later poll or by a cancel.
 */
import type { TaskEvent } from "../events.ts";
import type { Task } from "../task.ts";
import type { LiveRun, StopAttempt, Waiting } from "./live-run.ts";

export type RunEffect =
  | { type: "condense" }
  /** `text`: what a paused run is told instead of its own prompt. */
  | { type: "prompt"; text?: string }
  /** The run is paused: others may have its slot. */
  | { type: "rest" }
  /** A paused run is due: it wants its turn. */
  | { type: "turn" }
  /** Store that the run goes on with a prompt of a new id. */
  | { type: "continue" }
  /** Send this steering message into the session. */
  | { type: "steer"; id: string }
  /** Read what the session shows about this run. */
  | { type: "inspect"; purpose: InspectPurpose }
  /** Stop what the session does. */
  | { type: "abort"; purpose: AbortPurpose }
  /** An event for `transition`; writes of one run keep their order. */
  | { type: "write"; event: TaskEvent }
  /** Give the answer of a written rule. */
  | { type: "rule"; request: Waiting; decision: "allow" | "deny"; reason: string }
  /** The task has ended, or needs attention. */
  | { type: "announce"; task: Task }
  /** `soon`: as soon as the last poll is long enough ago. */
  | { type: "poll"; soon: boolean }
  /** A timer; replaces the one of that name. */
  | { type: "wake"; name: WakeName; ms: number }
  /** The prompt was given up: it is stopped when it arrives or, if it is in its session already, when it begins. */
  | { type: "abandon"; isThere?: true }
  /** The session may be at work with no run behind it: it is stopped, with retries. */
  | { type: "sweep" };

export type WakeName = "save" | "search";

export type InspectPurpose =
  /** Whether the prompt arrived. */
  | { name: "search" }
  /** The host reported an idle session or an error: an answer may be there. */
  | { name: "hint" }
  /** A status call says that the session is idle. */
  | { name: "status"; askedAt: number }
  /** Whether the agent took up a steering message. */
  | { name: "steering" }
  /** What the run has used, before its next request to a model. */
  | { name: "usage" }
  /** Whether the run was over before it was stopped for its pause. */
  | { name: "pause" }
  | { name: "host.ended"; reason: string };

export type AbortPurpose =
  | { name: "stop"; attempt: StopAttempt }
  /** The prompt was not found. */
  | { name: "abandon" }
  /** The run is paused: nothing of it may be at work. */
  | { name: "pause" }
  /** A host may go on working in a session that was deleted. */
  | { name: "deleted" };

/** A run after an input, and what is to be done now, in this order. */
export interface RunStep {
  run: LiveRun;
  effects: readonly RunEffect[];
}

export function unchanged(run: LiveRun): RunStep {
  return { run, effects: [] };
}

/** The effects of two steps that follow each other. */
export function then({ run, effects }: RunStep, next: (run: LiveRun) => RunStep): RunStep {
  const after = next(run);
  return { run: after.run, effects: [...effects, ...after.effects] };
}
