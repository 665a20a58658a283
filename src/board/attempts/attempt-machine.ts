/**
 * Calls about an attempt on another machine: worktrees, and the agents in them, are on the machine of their attempt, so
 * the daemon there performs the whole operation. If it does not run, the diff of the last run is shown as it was kept.
 */
import { AsyncAgentsError } from "../../model/errors.ts";
import { isSameMachine } from "../../process/machine.ts";
import type { CallOrigin } from "../../protocol/call-origin.ts";
import type { BoardOperationName } from "../../protocol/operations.ts";
import type { AttemptRecord } from "../../store/board/records.ts";
import type { BoardParts } from "../board-context.ts";
import type { Input } from "../input.ts";
import { keptDiff } from "./kept-diffs.ts";

/** The operations that touch the worktrees or the session of one attempt. Others only read and write the store. */
const PLACED: ReadonlySet<BoardOperationName> = new Set<BoardOperationName>([
  "get_attempt",
  "get_attempt_diff",
  "stop_attempt",
  "merge_attempt",
  "remove_attempt",
  "follow_up",
]);

/** The attempt that the call is about, if it is on another machine. */
export async function farAttempt(
  { store, machine: own = "" }: BoardParts,
  name: BoardOperationName,
  input: object,
): Promise<AttemptRecord | null> {
  if (own === "" || !PLACED.has(name)) return null;
  const { attempt_id, session_id, workspace_id } = input as Record<string, unknown>;
  const session = typeof session_id === "string" ? await store.board.session(session_id) : null;
  const id = attempt_id ?? session?.attemptId ?? workspace_id;
  const attempt = typeof id === "string" ? await store.board.attempt(id) : null;
  return attempt === null || isSameMachine(attempt.machine, own) ? null : attempt;
}

/** Has the daemon of that machine perform the call. */
export async function performThere(
  parts: BoardParts,
  attempt: AttemptRecord,
  { name, input, origin }: { name: BoardOperationName; input: object; origin: CallOrigin },
): Promise<unknown> {
  try {
    const daemon = await parts.remote.daemon(attempt.machine);
    if (daemon === null) throw notRunning(attempt);
    return await parts.remote.call(daemon, name, { id: "", input, origin });
  } catch (thrown) {
    const isOut = AsyncAgentsError.isInstance(thrown) && /^(daemon|host)_unavailable$/.test(thrown.code);
    const isDiff = isOut && name === "get_attempt_diff";
    const kept = isDiff ? await keptDiff(parts, attempt, input as Input<"get_attempt_diff">) : null;
    if (kept === null) throw thrown;
    return kept;
  }
}

function notRunning({ id, machine }: AttemptRecord): AsyncAgentsError {
  const message = `Attempt ${id} is on another machine (${machine}), whose daemon does not run. Start it there (asyncagents up), then try again.`;
  return new AsyncAgentsError("daemon_unavailable", message, { details: { attempt_id: id, machine } });
}
