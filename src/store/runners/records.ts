/**
 * What runners say about themselves, for people and for the reasons why a task waits. Whether a runner lives, its
 * instance says. No behaviour.
 */
import type { QueueLimits } from "../queue/run-queue.ts";

/** What a runner cannot do, and why. */
export interface RunnerLack {
  kind: "host" | "repository";
  /** The host, or the address of the repository. */
  name: string;
  reason: string;
}

export interface RunnerRecord {
  /** That of its instance. */
  id: string;
  machine: string;
  hostname: string;
  version: string;
  hosts: readonly string[];
  labels: readonly string[];
  /** How many runs it does at once. */
  max: number;
  limits: QueueLimits;
  /** How many it has now. */
  load: number;
  lacks: readonly RunnerLack[];
  /** `ended`: it said so itself. */
  state: "running" | "draining" | "ended";
  startedAt: number;
}

export interface SeenRunner extends RunnerRecord {
  /** How long ago it wrote that, in ms by the database's clock. */
  seenAgo: number;
}

export interface RunnerRecords {
  /** Also forgets those that were not heard of for an hour. */
  put(runner: RunnerRecord): Promise<void>;
  /** Those that were heard of in the last hour, newest start first; at most 1,000. */
  list(): Promise<SeenRunner[]>;
}
