/** Inputs of a live run one after the other, and what the last of them does, in short. */
import { type Evidence, noEvidence } from "../../../src/model/evidence.ts";
import type { InspectPurpose, RunEffect, RunStep } from "../../../src/model/live-run/effects.ts";
import type { RunInput } from "../../../src/model/live-run/inputs.ts";
import type { LiveRun } from "../../../src/model/live-run/live-run.ts";
import { step } from "../../../src/model/live-run/step.ts";

/** An input, with the time before it. */
export type Happening = RunInput | [ms: number, input: RunInput];

/** What the last of these inputs does. Each comes a millisecond after the one before. */
export function after(run: LiveRun, ...happenings: Happening[]): RunStep {
  let last: RunStep = { run, effects: [] };
  let awake = 1_000;
  for (const happening of happenings) {
    const [ms, input] = Array.isArray(happening) ? happening : [1, happening];
    awake += ms;
    last = step(last.run, input, { awake, wall: awake });
  }
  return last;
}

export const begun: Happening[] = [{ type: "turn.came" }, { type: "prompt.accepted" }];
export const polled: RunInput = { type: "poll.done", isWaiting: false };
export const shown = (
  name: "hint" | "status" | "search" | "pause",
  fields: Partial<Evidence> = {},
  askedAt = 9_999,
): RunInput => {
  const purpose: InspectPurpose = name === "status" ? { name, askedAt } : { name };
  return { type: "inspected", purpose, evidence: { ...noEvidence(true), ...fields } };
};

/** The effects in short: an end as its outcome and words, a phase as its name. */
export function effectsOf({ effects }: RunStep): string[] {
  return effects.map(wordOf);
}

export function wordOf(effect: RunEffect): string {
  if (effect.type === "poll") return effect.soon ? "poll soon" : "poll";
  if (effect.type === "inspect" || effect.type === "abort") return `${effect.type} ${effect.purpose.name}`;
  if (effect.type === "wake") return `wake ${effect.name} ${effect.ms}`;
  if (effect.type !== "write") return effect.type;
  const { event } = effect;
  if (event.type === "run.phased") return event.phase;
  if (event.type === "run.failed") return `error: ${event.error}`;
  if (event.type === "run.cancelled") return `cancelled: ${event.reason}`;
  return event.type === "run.completed" ? `completed: ${event.result}` : event.type;
}
