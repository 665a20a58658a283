/** Maps the host names that people type to those of the board's operations. Contains only the mapping. */

import { AsyncAgentsError } from "../model/errors.ts";
import type { EXECUTORS } from "../protocol/fields.ts";

type Executor = (typeof EXECUTORS)[number];

const BY_NAME: Readonly<Record<string, Executor>> = {
  opencode: "OPENCODE",
  claude: "CLAUDE_CODE",
  scripted: "SCRIPTED",
};

export const HOSTS: readonly string[] = Object.keys(BY_NAME);

/** The name people use for an executor. */
export function hostOf(executor: string): string {
  return HOSTS.find((name) => BY_NAME[name] === executor) ?? executor.toLowerCase();
}

export function executorNamed(name = "opencode"): Executor {
  const executor = BY_NAME[name.toLowerCase()];
  if (executor) return executor;
  throw new AsyncAgentsError(
    "invalid_input",
    `There is no host "${name.slice(0, 40)}". --host takes ${HOSTS.join(", ")}.`,
  );
}
