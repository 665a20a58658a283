/**
 * Rejects commands in the shell of an agent that only people may use: those that work on the store itself, where no
 * server checks the caller. Like every check of that kind, it restricts agents that follow the rules.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { DEPTH_VARIABLE, readDepth } from "../protocol/call-origin.ts";
import type { Invocation } from "./command.ts";

/** `what` completes the sentence: only people can … */
export function assertPerson({ environment }: Pick<Invocation, "environment">, what: string): void {
  if (readDepth(environment[DEPTH_VARIABLE] ?? "") === 0) return;
  throw new AsyncAgentsError("not_allowed", `Only people can ${what}, and not agents.`);
}
