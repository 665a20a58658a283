/**
 * Limits how deep agents may launch agents, and what those may do that may not launch any: the attempts and the queued
 * prompts on the board are then not theirs, so they neither merge nor delete them. Whoever started an agent reviews and
 * merges its work. An agent that we started carries its depth in its environment, and its MCP server passes it on. A
 * caller over MCP that reports no depth is rejected, since it could be an agent in an endless chain. No state.
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

/**
 * Rejects a merge by an agent that may not start others, since it could merge its own unreviewed work, and the removal
 * of work or prompts, since they belong to others. Work that would be lost is removed for nobody but people and the
 * agents that they started themselves: nothing tells whose work it is.
 */
export function assertReviewer(
  name: BoardOperationName,
  input: object,
  { depth }: CallOrigin,
  maxDepth = DEFAULT_DEPTH,
): void {
  const review = reviewOf(name, input);
  if (review === null) return;
  const max = review.losesWork ? 1 : maxDepth;
  if (depth !== null && depth < max) return;
  const message = `Agents that asyncagents started cannot ${review.what}, and neither can calls without the header ${DEPTH_HEADER}. ${review.instead}`;
  throw new AsyncAgentsError("depth_exceeded", message, { details: { depth, max_depth: max } });
}

interface Review {
  what: string;
  instead: string;
  losesWork?: true;
}

function reviewOf(name: BoardOperationName, input: { action?: string; force?: boolean }): Review | null {
  const askPerson = "whoever started you, or a person, ";
  if (name === "merge_attempt") {
    return { what: "merge", instead: `Report that the work is done: ${askPerson}reviews it and merges it.` };
  }
  if (name === "follow_up" && input.action === "cancel") {
    return { what: "cancel queued prompts", instead: `Report why they should not run: ${askPerson}can cancel them.` };
  }
  if (name !== "delete_task") return null;
  const instead = `Set its status to cancelled with update_task, or report that it can go: ${askPerson}can delete it.`;
  return input.force
    ? { what: "delete a task with force", instead, losesWork: true }
    : { what: "delete a task", instead };
}

/** What tells a command in the shell of an agent at this depth that an agent runs it; nothing outside of our agents. */
export function depthMark(depth: number): Record<string, string> {
  return depth === 0 ? {} : { [DEPTH_VARIABLE]: String(depth) };
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
