/**
 * Limits how deep agents may launch agents, and keeps them from merging into a person's branch: whoever started an
 * agent reviews and merges its work. An agent that we started carries its depth in its environment, and its MCP
 * server passes it on. An MCP caller that reports no depth is rejected, since it could be an agent in an endless
 * chain. No state.
 */

import { AsyncAgentsError } from "../model/errors.ts";
import { type CallOrigin, DEPTH_HEADER, DEPTH_VARIABLE } from "../protocol/call-origin.ts";
import { BOARD_OPERATIONS, type BoardOperationName } from "../protocol/operations.ts";

const DEFAULT_DEPTH = 1;

/** Whether the call starts an agent. Cancelling what is queued does not. */
export function isLaunch(name: BoardOperationName, input: object): boolean {
  if (name === "follow_up") return (input as { action?: string }).action !== "cancel";
  return BOARD_OPERATIONS[name].startsAgent === true;
}

/** Rejects a merge by an agent that may not start others: it could merge its own unreviewed work. */
export function assertMerger({ depth }: CallOrigin, maxDepth = DEFAULT_DEPTH): void {
  if (depth !== null && depth < maxDepth) return;
  const message = `Agents that asyncagents started cannot merge, and neither can calls without the header ${DEPTH_HEADER}. Report that the work is done: whoever started you, or a person, reviews it and merges it.`;
  throw new AsyncAgentsError("depth_exceeded", message, { details: { depth, max_depth: maxDepth } });
}

export function assertDepth({ depth }: CallOrigin, maxDepth = DEFAULT_DEPTH): void {
  if (depth === null) {
    const message = `This call does not say how deeply nested it is, so it cannot start agents. Let your MCP client send the header ${DEPTH_HEADER}: 0 if a person started it, or the value of ${DEPTH_VARIABLE} in an agent that asyncagents started; docs/mcp.md shows how. \`asyncagents mcp\` does it by itself.`;
    throw new AsyncAgentsError("depth_exceeded", message, { details: { header: DEPTH_HEADER } });
  }
  if (depth < maxDepth) return;
  const message = `An agent at depth ${depth} may not start others: the limit is ${maxDepth}. Do the work yourself, or ask a person to raise ASYNCAGENTS_MAX_DEPTH of the daemon.`;
  throw new AsyncAgentsError("depth_exceeded", message, { details: { depth, max_depth: maxDepth } });
}
