/**
 * Keeps the diff of an attempt when one of its runs has ended, and shows it when the attempt's machine cannot be
 * reached. Only where several machines share a store: on one machine git has it.
 */

import { unpacked } from "../../engine/transcripts/packed.ts";
import type { TranscriptKeeper } from "../../engine/transcripts/transcript-keeper.ts";
import { messageOf } from "../../model/errors.ts";
import { isLive } from "../../model/task.ts";
import type { OperationOutput } from "../../protocol/operations.ts";
import type { AttemptRecord } from "../../store/board/records.ts";
import type { FeedEntry } from "../../store/store.ts";
import type { BoardParts } from "../board-context.ts";
import type { Input } from "../input.ts";
import { getAttemptDiff } from "./view.ts";

type Diff = OperationOutput<"get_attempt_diff">;

const ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);
const KEPT_BYTES = 500_000;

export class KeptDiffs {
  readonly #parts: BoardParts;
  readonly #keeper: TranscriptKeeper;

  constructor(parts: BoardParts, keeper: TranscriptKeeper) {
    this.#parts = parts;
    this.#keeper = keeper;
  }

  onEntry({ taskId, event }: FeedEntry): void {
    if (!ENDS.has(event.type)) return;
    this.#keep(taskId).catch((thrown: unknown) => {
      this.#parts.log.error("the diff of an attempt was not kept", { task: taskId, error: messageOf(thrown) });
    });
  }

  async #keep(taskId: string): Promise<void> {
    const { store, machine } = this.#parts;
    const task = await store.task(taskId);
    if (task === null || isLive(task.status) || task.machine !== machine) return;
    const session = await store.board.sessionOfTask(taskId);
    if (session === null) return;
    const input = { attempt_id: session.attemptId, max_bytes: KEPT_BYTES };
    this.#keeper.keep(task, "diff", () => getAttemptDiff(this.#parts, input));
  }
}

/** Null if none was kept. */
export async function keptDiff(
  { store }: BoardParts,
  attempt: AttemptRecord,
  { repo_id, max_bytes = KEPT_BYTES }: Input<"get_attempt_diff">,
): Promise<Diff | null> {
  const taskId = attempt.latestSession?.taskId;
  const transcript = taskId === undefined ? null : await store.transcripts.get(taskId, "diff");
  if (transcript === null) return null;
  const diff = unpacked<Diff>(transcript.content);
  let left = max_bytes;
  const repos = diff.repos.filter((repo) => repo_id === undefined || repo.repo_id === repo_id);
  return {
    ...diff,
    repos: repos.map((repo) => {
      const bytes = Buffer.from(repo.diff);
      const shown = bytes.subarray(0, left);
      left -= shown.length;
      if (shown.length === bytes.length) return repo;
      return { ...repo, diff: shown.toString("utf8"), truncated: true, complete: false };
    }),
  };
}
