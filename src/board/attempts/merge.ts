/**
 * Merges an attempt into its target branches, in every repository or in none: all merges are tried before the first
 * branch moves. The merged worktrees are then removed and the work item is done. Rejected while anything is running
 * or queued; what somebody starts there meanwhile waits until the merge is over.
 */

import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { OperationOutput } from "../../protocol/operations.ts";
import type { AttemptRecord } from "../../store/board/records.ts";
import { checkMerge, merge } from "../../worktree/merge.ts";
import type { BoardCall } from "../board-call.ts";
import type { BoardParts } from "../board-context.ts";
import type { Input } from "../input.ts";
import { assertIdle, findAttempt } from "./attempts.ts";
import { clearWorktrees, whileClosed } from "./removal.ts";
import { worktreeGone } from "./view.ts";

type Merged = OperationOutput<"merge_attempt">["merged"];

export function mergeAttempt(
  parts: BoardParts,
  input: Input<"merge_attempt">,
  call: BoardCall,
): Promise<OperationOutput<"merge_attempt">> {
  return parts.oneAtATime.run(input.attempt_id, () => mergeNow(parts, input, call));
}

async function mergeNow(
  parts: BoardParts,
  input: Input<"merge_attempt">,
  { hadEffects }: BoardCall,
): Promise<OperationOutput<"merge_attempt">> {
  const found = await findAttempt(parts, input.attempt_id);
  const { attempt } = found;
  assertIdle(found, "Wait until it has ended (get_attempt with wait_ms), or stop it, then merge.");
  if (!input.keep) await assertNothingQueued(parts, attempt);
  return whileClosed(parts, attempt, { force: false }, (vacate) =>
    mergeIdle(parts, { attempt, input, hadEffects, vacate }),
  );
}

interface IdleMerge extends Pick<BoardCall, "hadEffects"> {
  attempt: AttemptRecord;
  input: Input<"merge_attempt">;
  vacate(): Promise<void>;
}

async function mergeIdle(
  parts: BoardParts,
  { attempt, input, hadEffects, vacate }: IdleMerge,
): Promise<OperationOutput<"merge_attempt">> {
  const { store, now, log } = parts;
  const request = {
    message: input.message?.trim() ? input.message : attempt.item.title,
    squash: input.squash ?? false,
    commit: true,
  };
  const { merged, landed, warnings } = await mergeAll(attempt, request, hadEffects).catch((thrown: unknown) =>
    noteConflict(parts, attempt, thrown),
  );
  await store.board.mergeAttempt(attempt.id, landed, now());
  let removed = false;
  if (!input.keep) {
    removed = await clearWorktrees(parts, attempt, { force: false, vacate }).then(
      () => true,
      (thrown: unknown) => {
        log.error("a merged attempt's worktrees stay", { attempt: attempt.id, error: messageOf(thrown) });
        warnings.push(`The worktrees stay: ${messageOf(thrown)}`);
        return false;
      },
    );
  }
  const told = warnings.length === 0 ? {} : { warnings };
  return { attempt_id: attempt.id, merged, removed, task_status: "done", ...told };
}

/** A person is shown it, whoever tried to merge. Throws what was thrown, also if that cannot be stored. */
async function noteConflict({ store, now, log }: BoardParts, attempt: AttemptRecord, thrown: unknown): Promise<never> {
  if (AsyncAgentsError.isInstance(thrown) && thrown.code === "merge_conflict") {
    await store.board.noteConflict(attempt.id, thrown.message, now()).catch((failure: unknown) => {
      log.error("a conflict is not shown to people", { attempt: attempt.id, error: messageOf(failure) });
    });
  }
  throw thrown;
}

/** `landed`: the commits that brought the attempt to the target branches, by repo id. */
async function mergeAll(
  attempt: AttemptRecord,
  request: Parameters<typeof merge>[1],
  hadEffects: () => void,
): Promise<{ merged: Merged; landed: Record<string, string>; warnings: string[] }> {
  const places = attempt.repos.map(({ repoId, path, name }) => {
    if (path === null) throw worktreeGone(attempt);
    return { repoId, path, name };
  });
  for (const { path } of places) await checkMerge(path, request);
  const merged: Merged = [];
  const landed: Record<string, string> = {};
  const warnings: string[] = [];
  for (const { repoId, path, name } of places) {
    try {
      const { into, commit, changed, landed: by, hooksNotRun } = await merge(path, request);
      hadEffects();
      if (changed && hooksNotRun.length > 0) {
        warnings.push(`Hooks of ${name} were not run (${hooksNotRun.join(", ")}): run their checks by hand.`);
      }
      merged.push({ repo_id: repoId, target_branch: into, commit, changed });
      if (by !== null) landed[repoId] = by;
    } catch (thrown) {
      throw merged.length === 0 ? thrown : halfMerged(thrown, merged);
    }
  }
  return { merged, landed, warnings };
}

/** Something changed between the trial and the merge. What was already merged stays, and the next merge detects it. */
function halfMerged(thrown: unknown, merged: Merged): AsyncAgentsError {
  const code = AsyncAgentsError.isInstance(thrown) ? thrown.code : "git_failed";
  const message = `${messageOf(thrown)} ${merged.length} of the repositories were merged before that, and stay so: merge again to do the rest.`;
  return new AsyncAgentsError(code, message, { cause: thrown, details: { merged } });
}

async function assertNothingQueued({ store }: BoardParts, attempt: AttemptRecord): Promise<void> {
  const session = attempt.latestSession;
  const count = session === null ? 0 : (await store.board.queue(session.id)).count;
  if (count === 0) return;
  throw new AsyncAgentsError(
    "attempt_running",
    `${count} follow-ups are queued for attempt ${attempt.id}. Let them run, cancel them (follow_up, action cancel), or merge with keep true.`,
    { details: { attempt_id: attempt.id, queued_count: count } },
  );
}
