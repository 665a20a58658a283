/**
 * The runners of a seed, if it has any: what they offer, and the limits for all of them together. Seeds without a fleet
 * are what they were before there were runners.
 */
import type { RunnerOffer } from "../../src/engine/queue/claimer.ts";
import type { QueueLimits } from "../../src/store/queue/run-queue.ts";
import type { Random } from "../time/random.ts";

/** The label that one of two runners has. */
export const LABEL = "gpu";

export interface FleetMember extends Pick<RunnerOffer, "labels" | "max"> {
  /** The role: `runner-a` is on the first machine, `runner-b` on the last. */
  name: string;
}

export interface Fleet {
  members: readonly FleetMember[];
  limits: QueueLimits;
  /** How long a claim lasts. */
  claimMs: number;
  /** How long a host without runs is kept open. */
  idleMs: number;
}

const SHARE = 0.3;
const LIMITS: readonly QueueLimits[] = [
  {},
  {},
  { total: 1 },
  { total: 1 },
  { total: 2 },
  { hosts: { opencode: 1 } },
  { labels: { [LABEL]: 1 } },
];
const CLAIMS_MS = [60_000, 20_000];
const IDLE_MS = [300_000, 15_000];

/** Null in most seeds. */
export function fleetOf(seed: Random): Fleet | null {
  const random = seed.split("fleet");
  if (!random.chance(SHARE)) return null;
  const names = random.chance(0.8) ? ["runner-a", "runner-b"] : ["runner-a"];
  const labelled = random.pick(names);
  const members = names.map((name) => ({ name, labels: name === labelled ? [LABEL] : [], max: random.whole(1, 3) }));
  return { members, limits: random.pick(LIMITS), claimMs: random.pick(CLAIMS_MS), idleMs: random.pick(IDLE_MS) };
}
