/** Maps the host names that people type to those of the board's operations. Contains only the mapping. */

import { AsyncAgentsError } from "../model/errors.ts";
import {
  ACP_EXECUTOR,
  acpExecutor,
  EXECUTOR_HOSTS,
  EXECUTORS,
  type HostName,
  splitExecutor,
} from "../protocol/executor-names.ts";

const DEFAULT_HOST = "opencode";

export const HOSTS: readonly HostName[] = Object.values(EXECUTOR_HOSTS);
const HELP: Readonly<Record<string, string>> = {
  [DEFAULT_HOST]: `${DEFAULT_HOST} (the default)`,
  acp: "acp:NAME (an agent that `asyncagents agents` lists)",
};
/** For the help of commands. */
export const HOST_CHOICE = HOSTS.map((name) => HELP[name] ?? name)
  .join(", ")
  .replace(/, ([^,]*)$/, " or $1");

/** The name people use for an executor. */
export function hostOf(executor: string): string {
  const named = splitExecutor(executor);
  if (named.agent !== null) return `${hostOf(named.executor)}:${named.agent}`;
  const known = EXECUTORS.find((name) => name === executor);
  return known === undefined ? executor.toLowerCase() : EXECUTOR_HOSTS[known];
}

/** `acp:codex` is the host acp with its agent codex. */
export function executorNamed(name: string = DEFAULT_HOST): string {
  const named = splitExecutor(name);
  if (named.agent !== null && executorNamed(named.executor) === ACP_EXECUTOR) return acpExecutor(named.agent);
  const executor = EXECUTORS.find((each) => EXECUTOR_HOSTS[each] === name.toLowerCase());
  if (executor) return executor;
  throw new AsyncAgentsError(
    "invalid_input",
    `There is no host "${name.slice(0, 40)}". --host takes ${HOSTS.join(", ")}, or acp:NAME for an ACP agent (asyncagents agents lists them).`,
  );
}

/** A host as a whole, as runners offer it and limits count it; `option` is where it was named. */
export function hostNamed(given: string, option: string): HostName {
  const name = given.trim().toLowerCase();
  const host = HOSTS.find((each) => each === name);
  if (host) return host;
  const acp = EXECUTOR_HOSTS[ACP_EXECUTOR];
  const problem = name.startsWith(`${acp}:`)
    ? `takes \`${acp}\`, which is all ACP agents of the machine`
    : `takes ${HOSTS.join(", ")}`;
  throw new AsyncAgentsError("invalid_input", `${option} ${problem}, not "${given.slice(0, 40)}".`);
}
