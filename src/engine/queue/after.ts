/**
 * The rules about tasks that start after others: what may be waited for, and changes until it starts. What happens when
 * one of the others ends is decided with that end, in the store's transaction (`src/store/queue/successors.ts`).
 */
import {
  type After,
  IF_FAILED,
  type IfFailed,
  MOST_PREDECESSORS,
  namedPredecessor,
  resultsIn,
} from "../../model/after.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import { awaitsRunner, isLive, type Task } from "../../model/task.ts";
import type { Store, Transaction } from "../../store/store.ts";
import { MAX_PROMPT, requireText } from "../launch.ts";
import { assertMayInstruct, type CallerRights } from "./owner-only.ts";

/** How many tasks may wait for one. They are judged in the transaction of its end. */
const MOST_SUCCESSORS = 1_000;
/** How many steps of waiting are followed to find a cycle. */
const MOST_FOLLOWED = 10_000;

/** What a caller may change about a task that has not started. What is absent stays. */
export interface TaskEdit {
  /** Ids; empty to wait for nothing. */
  after?: readonly string[];
  ifFailed?: IfFailed;
  prompt?: string;
}

/** Rejects what nobody can wait for, without looking at tasks. */
export function afterOf(tasks: readonly string[], ifFailed: IfFailed = "skip"): After {
  const ids = [...new Set(tasks.map((id) => id.trim()))];
  if (ids.includes("")) throw invalid("after contains an empty id. Give the ids of tasks.");
  if (ids.length > MOST_PREDECESSORS) {
    throw invalid(`after names ${ids.length} tasks; at most ${MOST_PREDECESSORS} are allowed. Chain some of them.`);
  }
  if (!IF_FAILED.includes(ifFailed)) throw invalid(`if_failed must be one of ${IF_FAILED.join(", ")}.`);
  return { tasks: ids, ifFailed };
}

/** A result can only be handed on by a task that was waited for. */
export function assertResults(prompt: string, after: After | null): void {
  const strange = resultsIn(prompt).find((name) => namedPredecessor(name, after?.tasks ?? []) === null);
  if (strange !== undefined) throw notAfter(strange);
}

/** What sessions and waiting tasks are called, even if there is no such task any more. */
const ID_FORM = /^(ses|tsk)_/;
const SHORTEST_NAME = 4;
const MOST_NAMES = 20;
const MOST_FOUND = 200;

/** For a prompt that is sent as it is: rejects a placeholder that names a task. Any other is the caller's text. */
export async function refuseResults(store: Pick<Store, "tasks">, prompt: string): Promise<void> {
  for (const name of resultsIn(prompt).slice(0, MOST_NAMES)) {
    if (ID_FORM.test(name)) throw notAfter(name);
    if (name.length < SHORTEST_NAME) continue;
    const found = await store.tasks({ search: name, limit: MOST_FOUND, textChars: 0 });
    if (found.tasks.some(({ id }) => id.includes(name))) throw notAfter(name);
  }
}

function notAfter(name: string): AsyncAgentsError {
  const message = `The prompt asks for {{result:${name}}}, but the task does not start after it, so there would be no result. Name it in after (asyncagents run --after ${name} "prompt"), or leave it out.`;
  return invalid(message);
}

/**
 * Locks the predecessors, so that none of them ends unnoticed. Rejects one that does not exist, and one that too many
 * wait for.
 */
export async function lockPredecessors(transaction: Transaction, { tasks }: After): Promise<Task[]> {
  const found = await transaction.tasks(tasks);
  const known = new Set(found.map(({ id }) => id));
  const missing = tasks.find((id) => !known.has(id));
  if (missing !== undefined) {
    const message = `after: there is no task "${missing.slice(0, 100)}". The list of tasks shows the ids.`;
    throw new AsyncAgentsError("task_not_found", message);
  }
  for (const { id, status } of found) {
    if (!isLive(status) || (await transaction.successors(id, MOST_SUCCESSORS)) < MOST_SUCCESSORS) continue;
    const message = `${MOST_SUCCESSORS} tasks start after task ${id} already. Start this one after one of those.`;
    throw new AsyncAgentsError("too_many_tasks", message);
  }
  return found;
}

/** Changes a task that has not started. It may start with the change, or end if a predecessor has failed. */
export async function editTask(
  { store, now }: { store: Store; now(): number },
  { id, directory }: Pick<Task, "id" | "directory">,
  edit: TaskEdit,
  rights: CallerRights,
): Promise<Task> {
  if (edit.prompt !== undefined) requireText("prompt", edit.prompt, MAX_PROMPT);
  const written = await store.write(async (transaction) => {
    const isHeld = await transaction.holdAgain(id);
    const [task] = await transaction.tasks([id]);
    if (task === undefined) throw new AsyncAgentsError("task_not_found", `There is no task ${id} any more.`);
    if (!isHeld || !awaitsRunner(task)) throw tooLate(task);
    await assertMayInstruct(transaction, { id, directory }, rights);
    const after = changedAfter(task, edit);
    const prompt = edit.prompt ?? task.run.prompt;
    assertResults(prompt, after);
    if (after !== null) {
      await lockPredecessors(transaction, after);
      await assertNoCycle(transaction, id, after);
    }
    await transaction.apply(id, { type: "task.edited", at: now(), run: task.run.number, after, prompt });
    return transaction.settle(id, now());
  });
  if (written !== null && "id" in written) return written;
  throw new AsyncAgentsError("internal", `The change of task ${id} was refused.`);
}

function changedAfter({ after }: Task, edit: TaskEdit): After | null {
  const tasks = edit.after ?? after?.tasks ?? [];
  const changed = afterOf(tasks, edit.ifFailed ?? after?.ifFailed);
  return changed.tasks.length === 0 ? null : changed;
}

/** Only tasks that have not started wait, so only those can be part of a cycle. */
async function assertNoCycle(transaction: Transaction, id: string, { tasks }: After): Promise<void> {
  const seen = new Map<string, string>(tasks.map((each) => [each, id]));
  for (let next = [...tasks]; next.length > 0; ) {
    if (seen.has(id)) throw cycle(id, seen);
    if (seen.size > MOST_FOLLOWED) throw invalid(`after: more than ${MOST_FOLLOWED} tasks would have to end first.`);
    const found = await transaction.predecessorsOf(next);
    const fresh = found.filter(({ predecessorId }) => !seen.has(predecessorId));
    for (const { taskId, predecessorId } of fresh) seen.set(predecessorId, taskId);
    next = [...new Set(fresh.map(({ predecessorId }) => predecessorId))];
  }
}

/** `seen`: each task with the one that waits for it. */
function cycle(id: string, seen: ReadonlyMap<string, string>): AsyncAgentsError {
  const way = [id];
  for (let at = seen.get(id); at !== undefined && at !== id && way.length < 10; at = seen.get(at)) way.push(at);
  const path = [...way, id].toReversed().join(" after ");
  return invalid(`after: the tasks would wait for each other for ever (${path}). Leave one of them out.`);
}

function tooLate({ id, status, sessionId }: Task): AsyncAgentsError {
  const why = !isLive(status) ? `has ended (${status})` : sessionId === "" ? "is just starting" : "has started";
  const message = `Task ${id} ${why}, so it cannot be changed any more. Only a task that waits to start can be.`;
  return new AsyncAgentsError("task_not_live", message, { details: { status } });
}

function invalid(message: string): AsyncAgentsError {
  return new AsyncAgentsError("invalid_input", message, { details: { field: "after" } });
}
