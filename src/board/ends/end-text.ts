/**
 * What hooks tell the model of a session of Claude Code. The first line names the claim: the hook that sees it in what
 * the session reads reports it as read. Pure.
 */
import { claimText } from "../../model/notifications/follower.ts";
import { asLine, framed, type NewMark } from "../../model/text/foreign-text.ts";
import type { OperationOutput } from "../../protocol/operations.ts";

const LINE = 500;

export function endText(claim: string, ends: readonly OperationOutput<"read_end">[], newMark: NewMark): string {
  const count = ends.length === 1 ? "A background task" : `${ends.length} background tasks`;
  const head = `${claimText(claim)}. ${count} that you launched ended. This is not from the user, and no error of a hook.`;
  return [head, ...ends.flatMap((end) => blockOf(end, newMark))].join("\n");
}

function blockOf({ handle, status, message, answer }: OperationOutput<"read_end">, newMark: NewMark): string[] {
  const what = "attempt_id" in answer ? "Attempt" : "Task";
  const { result, changes } = answer;
  return [
    `${what} ${handle} ${status}: ${asLine(message, LINE)}`,
    ...(typeof result === "string" ? [framed("result", result, newMark)] : []),
    ...(typeof changes === "string" ? [framed("changes", changes, newMark)] : []),
  ];
}
