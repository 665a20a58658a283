/**
 * The current state of an attempt: state, final message, open question, changes in its worktrees, and messages since
 * a cursor. Read-only and bounded; waits for notifications and never polls.
 */

import { AsyncAgentsError } from "../../model/errors.ts";
import type { Message } from "../../model/message.ts";
import { endsWait, isLive, type Task } from "../../model/task.ts";
import { settlesWithin } from "../../process/deadline.ts";
import { holdsRole } from "../../protocol/call-origin.ts";
import type { OperationOutput } from "../../protocol/operations.ts";
import type { AttemptRecord } from "../../store/board/records.ts";
import { type Diff, diffOf, mergedDiffOf } from "../../worktree/diff.ts";
import { worktreeStateOf } from "../../worktree/worktree-state.ts";
import type { BoardCall } from "../board-call.ts";
import type { BoardParts } from "../board-context.ts";
import { executorOf } from "../executors.ts";
import type { Input } from "../input.ts";
import { notFound } from "../not-found.ts";
import { askedOf, finalMessage, heldOf, progressLine, stateOf, wireTime } from "../wire.ts";
import type { AttemptStart } from "./attempt-start.ts";
import { findAttempt } from "./attempts.ts";

const ENTRIES = 20;
/** How far back a cursor is searched for. */
const MESSAGES = 50;
const PAGES = 10;
const TEXT = 1_000;
const DIFF_BYTES = 50_000;

/** For a repository in which the merge changed nothing. */
const UNCHANGED = { fileCount: 0, insertions: 0, deletions: 0, files: [], text: "", cut: null, incomplete: null };
const GONE: ReadonlySet<string> = new Set(["worktree_not_found", "worktree_not_ours", "repo_invalid"]);

type View = OperationOutput<"get_attempt">;
type AttemptRepo = AttemptRecord["repos"][number];
type Log = Pick<View, "log" | "log_cursor">;

export async function getAttempt(
  parts: BoardParts,
  start: AttemptStart,
  input: Input<"get_attempt">,
  call: BoardCall,
): Promise<View> {
  await settle(parts, start, input, call.signal);
  const { attempt, task } = await findAttempt(parts, input.attempt_id);
  const session = attempt.latestSession;
  const queue = session === null ? null : await parts.store.board.queue(session.id);
  const [repos, log] = await Promise.all([
    Promise.all(attempt.repos.map(repoView)),
    logOf(parts, { attempt, task, cursor: input.log_cursor ?? null }, call),
  ]);
  return {
    attempt_id: attempt.id,
    task_id: attempt.workItemId,
    state: stateOf(attempt, task),
    session_id: session?.id ?? null,
    executor: executorOf(attempt.host),
    workspace_branch: attempt.branch,
    created_at: wireTime(attempt.createdAt),
    updated_at: wireTime(attempt.updatedAt),
    final_message: finalMessage(task),
    error: errorOf(attempt, task, queue?.head?.error ?? null),
    asked: askedOf(task),
    progress: progressLine(task),
    queued_count: queue?.count ?? 0,
    queue_held: queue === null ? null : heldOf(task, queue),
    repos,
    ...log,
  };
}

/** Waits while the attempt is being set up or running, up to the time the caller allows. */
async function settle(
  parts: BoardParts,
  start: AttemptStart,
  { attempt_id, wait_ms = 0 }: Input<"get_attempt">,
  signal?: AbortSignal,
): Promise<void> {
  if (wait_ms === 0) return;
  const end = parts.monotonic() + wait_ms;
  await settlesWithin(start.settled(attempt_id), { timeout: wait_ms, signal, clock: parts });
  const { task } = await findAttempt(parts, attempt_id);
  const left = end - parts.monotonic();
  if (task === null || left <= 0) return;
  await parts.waiter.until(task.id, endsWait, { timeout: left, ...(signal && { signal }) });
}

function errorOf(attempt: AttemptRecord, task: Task | null, queued: string | null): string | null {
  const own = attempt.error ?? (task !== null && !isLive(task.status) ? task.run.error : null);
  const waiting = queued === null ? null : `The next queued follow-up could not begin: ${queued}`;
  return [own, waiting].filter((part) => part !== null).join("\n") || null;
}

async function repoView(repo: AttemptRepo): Promise<View["repos"][number]> {
  const head = { repo_id: repo.repoId, repo_name: repo.name, target_branch: repo.targetBranch };
  const nothing = { files: 0, insertions: 0, deletions: 0, uncommitted: 0 };
  try {
    const diff = await changesOf(repo, { maxBytes: 0, maxFiles: 0 });
    if (diff === null) return { ...head, path: null, ...nothing };
    const { fileCount: files, insertions, deletions } = diff;
    const uncommitted = repo.path === null ? 0 : (await worktreeStateOf(repo.path)).uncommittedCount;
    return { ...head, path: repo.path, files, insertions, deletions, uncommitted };
  } catch (thrown) {
    const code = AsyncAgentsError.isInstance(thrown) ? thrown.code : "";
    // The worktree is still being created or was deleted by hand, or the repository it was merged into was deleted.
    if (GONE.has(code)) return { ...head, path: null, ...nothing };
    if (code === "worktree_busy") return { ...head, path: repo.path, ...nothing };
    throw thrown;
  }
}

/** The attempt's changes: from its worktree, or from its merge once the worktree is gone; null if there is neither. */
async function changesOf(
  { path, repoPath, mergedCommit }: AttemptRepo,
  bound: Parameters<typeof diffOf>[1],
): Promise<Diff | null> {
  if (path !== null) return diffOf(path, bound);
  return mergedCommit === null ? null : mergedDiffOf(repoPath, mergedCommit, bound);
}

async function logOf(
  parts: BoardParts,
  { attempt, task, cursor }: { attempt: AttemptRecord; task: Task | null; cursor: string | null },
  call: BoardCall,
): Promise<Log> {
  const engine = task === null ? null : await engineFor(parts, attempt, task, call);
  if (task === null || engine === null) return { log: [], log_cursor: cursor };
  const read = async (before: string | null) => {
    const limit = cursor === null ? ENTRIES : MESSAGES;
    // A session that has not been prompted yet, or that its host has lost, has no messages.
    return engine.messages(task.sessionId, { limit, before }).catch(() => ({ messages: [], before: null }));
  };
  let page = await read(null);
  let messages = page.messages;
  for (let count = 1; cursor !== null && count < PAGES && page.before !== null; count++) {
    if (messages.some(({ id }) => id === cursor)) break;
    page = await read(page.before);
    messages = [...page.messages, ...messages];
  }
  const known = messages.findIndex(({ id }) => id === cursor);
  const fresh = cursor === null ? messages.slice(-ENTRIES) : messages.slice(known + 1, known + 1 + ENTRIES);
  // A message that is still being written is shown now and again when it is complete.
  const open = fresh.findIndex(
    ({ role, endedAt, error }) => role === "assistant" && endedAt === null && error === null,
  );
  const complete = open === -1 ? fresh : fresh.slice(0, open);
  return { log: fresh.map(entryOf), log_cursor: complete.at(-1)?.id ?? cursor };
}

/**
 * An engine that can read the conversation; none is started for an attempt whose worktrees are gone, nor for those who
 * could not continue it: starting one runs what the configuration of the worktree names.
 */
async function engineFor({ desk }: BoardParts, attempt: AttemptRecord, task: Task, { origin }: BoardCall) {
  if (attempt.folder === null) return null;
  const places = await desk.placesOfMessages(task, { mayOpen: holdsRole(origin, "launch") }).catch(() => []);
  for (const place of places) if ("engine" in place) return place.engine;
  return null;
}

function entryOf({ at, role, parts }: Message): Log["log"][number] {
  const text = parts.flatMap((part) => (part.type === "text" && !part.hidden ? [part.text] : [])).join("\n");
  const tools = parts.flatMap((part) => (part.type === "tool" ? [part.name] : []));
  return { at: wireTime(at), role, text: text.slice(0, TEXT), tools: tools.slice(0, 100) };
}

export async function getAttemptDiff(
  parts: BoardParts,
  input: Input<"get_attempt_diff">,
): Promise<OperationOutput<"get_attempt_diff">> {
  const { attempt } = await findAttempt(parts, input.attempt_id);
  const wanted = attempt.repos.filter(({ repoId }) => input.repo_id === undefined || repoId === input.repo_id);
  if (input.repo_id !== undefined && wanted.length === 0) throw notFound("repo", input.repo_id);
  let left = input.max_bytes ?? DIFF_BYTES;
  const repos: OperationOutput<"get_attempt_diff">["repos"] = [];
  for (const repo of wanted) {
    const bound = { maxBytes: left, ...(input.max_files !== undefined && { maxFiles: input.max_files }) };
    const changes = await changesOf(repo, bound);
    if (changes === null && attempt.state !== "merged") throw worktreeGone(attempt);
    const { fileCount, insertions, deletions, files, text, cut, incomplete } = changes ?? UNCHANGED;
    left = Math.max(0, left - Buffer.byteLength(text));
    const head = { repo_id: repo.repoId, repo_name: repo.name, files: fileCount, insertions, deletions };
    repos.push({
      ...head,
      diff: text,
      truncated: cut !== null,
      complete: cut === null && incomplete === null,
      unread: incomplete,
      changed_files: files,
      files_left_out: fileCount - files.length,
    });
  }
  return { attempt_id: attempt.id, repos };
}

export function worktreeGone({ id, state }: AttemptRecord): AsyncAgentsError {
  const why =
    state === "merged" ? "it was merged" : state === "failed" ? "it could not be set up" : "they are not there yet";
  return new AsyncAgentsError("worktree_not_found", `Attempt ${id} has no worktrees: ${why}.`, {
    details: { attempt_id: id },
  });
}
