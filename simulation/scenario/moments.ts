/**
 * What a seed has planned, in order of time: what people and parents do, and the disasters. Each has a number, by which
 * it can be left out; the others stay as they are. Faults of single queries, events and calls are not planned.
 */
import type { Random } from "../time/random.ts";
import type { Fault, Faults } from "../world/faults.ts";
import { planActions } from "./actions.ts";
import { DISASTERS } from "./disasters.ts";

const DISASTERS_TRIED = 8;

export interface PlannedMoment {
  at: number;
  /** The name of an action, or the kind of a disaster. */
  name: string;
  is: "action" | "disaster";
  /** Its own random choices. */
  random: Random;
}

export function planMoments(seed: Random, faults: Faults, lengthMs: number): PlannedMoment[] {
  const actions = planActions(seed.split("actions"), lengthMs).map(({ at, name }, index): PlannedMoment => {
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
