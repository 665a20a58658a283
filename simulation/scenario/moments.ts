/**
 * What a seed has planned, in order of time: what people and parents do, and the disasters. Each has a number, by which
 * it can be left out; the others stay as they are. Faults of single queries, events and calls are not planned.
 */
import type { Random } from "../time/random.ts";
import type { Fault, Faults } from "../world/faults.ts";
import { planActions } from "./actions.ts";
import { DISASTERS } from "./disasters.ts";
import { FLEET_ACTIONS } from "./fleet-actions.ts";

const DISASTERS_TRIED = 8;

export interface PlannedMoment {
  at: number;
  /** The name of an action, or the kind of a disaster. */
  name: string;
  is: "action" | "disaster";
  /** Its own random choices. */
  random: Random;
}

/** With `hasFleet`, also what people do with runners. */
export function planMoments(seed: Random, faults: Faults, lengthMs: number, hasFleet: boolean): PlannedMoment[] {
  const planned = planActions(seed.split("actions"), lengthMs);
  const fleet = { table: FLEET_ACTIONS, least: 5, most: 25 };
  if (hasFleet) planned.push(...planActions(seed.split("fleet actions"), lengthMs, fleet));
  const actions = planned.map(({ at, name }, index): PlannedMoment => {
    return { at, name, is: "action", random: seed.split(`action ${index}`) };
  });
  const moments = seed.split("disasters");
  const disasters = (Object.keys(DISASTERS) as Fault[]).flatMap((name) =>
    Array.from({ length: DISASTERS_TRIED }, (_, count): PlannedMoment | null => {
      const random = moments.split(`${name} ${count}`);
      const at = random.whole(0, lengthMs);
      return faults.isPlanned(name, random) ? { at, name, is: "disaster", random } : null;
    }).filter((moment) => moment !== null),
  );
  return [...actions, ...disasters].sort((one, other) => one.at - other.at);
}
