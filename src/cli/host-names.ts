/** Maps the host names that people type to those of the board's operations. Contains only the mapping. */

import { AsyncAgentsError } from "../model/errors.ts";
import { EXECUTOR_HOSTS, EXECUTORS, type ExecutorName } from "../protocol/executor-names.ts";

const DEFAULT_HOST = "opencode";

export const HOSTS: readonly string[] = Object.values(EXECUTOR_HOSTS);
/** For the help of commands. */
export const HOST_CHOICE = HOSTS.map((name) => (name === DEFAULT_HOST ? `${name} (the default)` : name))
  .join(", ")
  .replace(/, ([^,]*)$/, " or $1");

/** The name people use for an executor. */
export function hostOf(executor: string): string {
  const known = EXECUTORS.find((name) => name === executor);
  return known === undefined ? executor.toLowerCase() : EXECUTOR_HOSTS[known];
}

export function executorNamed(name: string = DEFAULT_HOST): ExecutorName {
  const executor = EXECUTORS.find((each) => EXECUTOR_HOSTS[each] === name.toLowerCase());
  if (executor) return executor;
  throw new AsyncAgentsError(
    "invalid_input",
    `There is no host "${name.slice(0, 40)}". --host takes ${HOSTS.join(", ")}.`,
  );
}
