/**
 * What a seed makes of a run, for those who play it elsewhere: who does what when, what strikes which process, and how
 * agents answer. Taken from a simulated run, because some of it depends on what happens there.
 */
import { planTurn, type TurnPlan } from "../agents/turn-plan.ts";
import type { Incident, Machine } from "../world/machine.ts";
import type { PlannedAction } from "./actions.ts";

export interface Plan {
  seed: number;
  /** How long people act and things go wrong; afterwards there is peace. */
  stormMs: number;
  actions: readonly PlannedAction[];
  /** Those during the storm. */
  incidents: readonly Incident[];
  /** For each prompt of a task, in the order in which they were sent. */
  turns: readonly TurnPlan[];
  /** How often each kind of fault happened. */
  faults: Readonly<Record<string, number>>;
}

export function planOf(machine: Machine, actions: readonly PlannedAction[], stormMs: number): Plan {
  return {
    seed: machine.seed,
    stormMs,
    actions,
    incidents: machine.incidents.filter(({ at }) => at < stormMs),
    turns: machine.work.sentIds.map((id) => planTurn(machine.random.split(`turn ${id}`))),
    faults: Object.fromEntries(machine.faults.counts),
  };
}
