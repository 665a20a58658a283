/** Maps the host names that people type to those of the board's operations. Contains only the mapping. */

import { AsyncAgentsError } from "../model/errors.ts";
import { EXECUTOR_HOSTS, EXECUTORS, type ExecutorName } from "../protocol/executor-names.ts";

export const HOSTS: readonly string[] = Object.values(EXECUTOR_HOSTS);

/** The name people use for an executor. */
export function hostOf(executor: string): string {
  const known = EXECUTORS.find((name) => name === executor);
  return known === undefined ? executor.toLowerCase() : EXECUTOR_HOSTS[known];
}

export function executorNamed(name = "opencode"): ExecutorName {
  const executor = EXECUTORS.find((each) => EXECUTOR_HOSTS[each] === name.toLowerCase());
  if (executor) return executor;
  throw new AsyncAgentsError(
    "invalid_input",
    `There is no host "${name.slice(0, 40)}". --host takes ${HOSTS.join(", ")}.`,
  );
}
