/** The hosts by the names that people type, and what the board's operations call them. No behaviour but the mapping. */

import { AsyncAgentsError } from "../model/errors.ts";
import type { EXECUTORS } from "../protocol/fields.ts";

type Executor = (typeof EXECUTORS)[number];

const BY_NAME: Readonly<Record<string, Executor>> = {
  opencode: "OPENCODE",
  claude: "CLAUDE_CODE",
  scripted: "SCRIPTED",
};

export const HOSTS: readonly string[] = Object.keys(BY_NAME);

/** What people call an executor. */
export function hostOf(executor: string): string {
  return HOSTS.find((name) => BY_NAME[name] === executor) ?? executor.toLowerCase();
}

export function executorOf(name = "opencode"): Executor {
  const executor = BY_NAME[name.toLowerCase()];
  if (executor) return executor;
  throw new AsyncAgentsError(
    "invalid_input",
    `There is no host "${name.slice(0, 40)}". --host takes ${HOSTS.join(", ")}.`,
  );
}
