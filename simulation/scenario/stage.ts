/** Everything that a scenario plays with: the machine, its roles, the parents' sessions, and what was promised. */
import type { Engine } from "../../src/engine/engine.ts";
import type { Task } from "../../src/model/task.ts";
import type { Store } from "../../src/store/store.ts";
import type { DaemonRole } from "../roles/daemon.ts";
import type { OpenCodeRole } from "../roles/opencode.ts";
import type { Role } from "../roles/role.ts";
import type { RunnerRole } from "../roles/runner.ts";
import type { Random } from "../time/random.ts";
import type { Machine } from "../world/machine.ts";
import type { QueueWatch } from "../world/queue-watch.ts";
import type { Promises } from "./promises.ts";

export const PROJECT = "00000000-0000-4000-8000-aaaaaaaaaaaa";

/** A session that a person works in, and that launches tasks. */
export interface ParentSession {
  id: string;
  /** The machine that has it. */
  place: string;
  isDeleted: boolean;
  deletedAt?: number;
}

export interface Stage {
  machine: Machine;
  roles: readonly Role[];
  openCodes: readonly OpenCodeRole[];
  daemon: DaemonRole;
  /** None in most seeds. */
  runners: readonly RunnerRole[];
  /** Null without runners. */
  queue: QueueWatch | null;
  parents: ParentSession[];
  /** Attempts of the board whose task was launched. */
  attempts: string[];
  promises: Promises;
  /** Reads the store as it is, without faults and without waiting. */
  truth: Store;
}

/** An engine that runs now, of any role. */
export function anyEngine({ roles }: Stage, random: Random): Engine | null {
  const engines = roles.filter(({ process }) => !process.isFrozen).flatMap((role) => role.engines());
  return engines.length === 0 ? null : random.pick(engines);
}

/** An engine that can act for a parent. */
export function parentEngine({ openCodes }: Stage, random: Random): Engine | null {
  const engines = openCodes.filter(({ process }) => !process.isFrozen).flatMap((role) => role.engines());
  return engines.length === 0 ? null : random.pick(engines);
}

export async function anyTask({ truth }: Stage, random: Random, fits: (task: Task) => boolean): Promise<Task | null> {
  const { tasks } = await truth.tasks({ limit: 200 });
  const fitting = tasks.filter(fits);
  return fitting.length === 0 ? null : random.pick(fitting);
}
