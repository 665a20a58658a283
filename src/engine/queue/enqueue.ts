/**
 * Queues a task for any runner, or for whoever has its folder open: checks what can be checked without a host, and
 * stores the task, without a session, together with its place in the queue. One that starts after others is held
 * until these have ended.
 */

import type { After } from "../../model/after.ts";
import type { NewBudgets } from "../../model/budgets/budget.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { TaskEvent } from "../../model/events.ts";
import type { Task } from "../../model/task.ts";
import type { QueuedRun, RunSource } from "../../store/queue/run-queue.ts";
import type { Parent, Store, Transaction } from "../../store/store.ts";
import { batchFor } from "../batch-for.ts";
import { assertRequest, budgetsOf, type Caller, type LaunchRequest } from "../launch.ts";
import { assertResults, lockPredecessors, refuseResults } from "./after.ts";

const MAX_LABELS = 10;
const MAX_PRIORITY = 1_000;
const MAX_RETRIES = 10;
/** How many tasks may wait at once, if some of them wait for others. */
const MOST_HELD = 10_000;

/** Which runner may do a task, and when. */
export interface QueueChoices {
  /** The runner must have all of them. */
  labels?: readonly string[];
  /** Higher ones first; 0 when absent. */
  priority?: number;
  /** How often the task may start again if the program or machine that runs it dies; 0 when absent. */
  retry?: number;
}

/** Where the task works, as seen from here. */
export interface QueueFolder {
  directory: string;
  /** Where other machines get it from; null if only this one can do the task. */
  repository: FolderRepository | null;
  /** Why other machines cannot, for people; null if they can, or there are none. */
  bound: string | null;
}

export interface FolderRepository extends Pick<RunSource, "commit" | "path"> {
  remote: string;
}

export interface QueueRequest
  extends Pick<
    LaunchRequest,
    "description" | "prompt" | "batch" | "limits" | "wake" | "after" | "budget" | "isAgents"
  > {
  host: string;
  /** `provider/model`; null for the host's default. The caller's when absent. */
  model?: string | null;
  /** The host's default agent when empty. */
  agent: string;
  folder: QueueFolder;
  choices: QueueChoices;
  /** Whether no runner may do it, but only a process that has the folder open. */
  isOnlyHere?: boolean;
  /** What to keep about the caller's session. */
  parent?: Parent | null;
  /** Rejected if so many wait already. No limit when absent. */
  mostWaiting?: number;
  /** The budgets of launches that bring none. */
  budgets?: NewBudgets;
}

interface EnqueueContext {
  store: Store;
  /** The machine that has the folder; empty if only one uses the store. */
  machine: string;
  now(): number;
  newId(prefix: string): string;
}

/** Resolves when the task is stored: from then on it is claimed, or waits for others. */
export async function enqueueTask(context: EnqueueContext, caller: Caller, request: QueueRequest): Promise<Task> {
  const { model = caller.model } = request;
  const after = request.after?.tasks.length === 0 ? undefined : request.after;
  assertRequest({ ...request, model: model ?? undefined });
  assertChoices(request.choices);
  const { store, now, newId } = context;
  if (after === undefined) await refuseResults(store, request.prompt);
  else assertResults(request.prompt, after);
  const id = newId("tsk");
  const run = queuedRun(context, { ...request, model }, id);
  // A line that is opened stays: what is refused opens none.
  if (after !== undefined) await store.write((transaction) => lockPredecessors(transaction, after));
  await store.queue.open(run);
  const createdIn = (batchId: string): TaskEvent => {
    const { host, agent, wake, folder } = request;
    const task = {
      id,
      sessionId: "",
      host,
      directory: folder.directory,
      parentSessionId: caller.sessionId,
      parentMessageId: caller.messageId,
      parentAgent: caller.agent,
      description: request.description.trim(),
      prompt: request.prompt,
      messageId: "",
      agent,
      model,
      batchId,
      isForked: false,
      owner: null,
      ...(wake && { wake }),
      ...(after && { after }),
      ...budgetsOf(request.budgets ?? {}, request, caller),
    };
    return { type: "task.created", at: now(), task };
  };
  if (after !== undefined) return holdTask(context, caller, { ...request, after }, { run, createdIn });
  // A person has no open batch to join.
  const isSimple = caller.sessionId === "" && request.mostWaiting === undefined;
  const written = isSimple
    ? await store.queue.enqueue(run, createdIn(request.batch ?? newId("bat")))
    : await store.write(async (transaction) => {
        if (request.mostWaiting !== undefined) await assertRoom(transaction, request.mostWaiting);
        const batchId = await batchFor(transaction, caller, request.batch, () => newId("bat"));
        await transaction.enqueue(run);
        return transaction.apply(id, createdIn(batchId));
      });
  if (written.changed) return written.task;
  throw new AsyncAgentsError("internal", `The new task ${id} was refused: ${written.reason}.`);
}

/** The task may be startable already, or over, when it is stored. */
async function holdTask(
  { store, now, newId }: EnqueueContext,
  caller: Caller,
  { after, parent, batch, mostWaiting = MOST_HELD }: QueueRequest & { after: After },
  { run, createdIn }: { run: QueuedRun; createdIn(batchId: string): TaskEvent },
): Promise<Task> {
  const id = run.taskId;
  const joined = caller.sessionId === "" && batch === null ? await batchOfPerson(store, after) : null;
  const writing = store.write(async (transaction) => {
    await lockPredecessors(transaction, after);
    await assertRoom(transaction, mostWaiting);
    const batchId = joined ?? (await batchFor(transaction, caller, batch, () => newId("bat")));
    if (parent) await transaction.putParent(parent);
    await transaction.enqueueHeld(run);
    await transaction.apply(id, createdIn(batchId));
    return transaction.settle(id, now());
  });
  // If the store failed and has the task, only the answer was lost.
  const written = await writing.catch(async (thrown: unknown) => {
    const stored = await store.task(id).catch(() => null);
    if (stored === null) throw thrown;
    return stored;
  });
  if (written !== null && "id" in written) return written;
  throw new AsyncAgentsError("internal", `The new task ${id} was refused.`);
}

/** The batch of what it starts after, so that a chain is one batch. An attempt is a batch of its own. */
async function batchOfPerson(store: Store, { tasks: [first = ""] }: After): Promise<string | null> {
  const task = await store.task(first);
  if (task === null || task.parentSessionId !== "") return null;
  return (await store.board.attempt(task.batchId)) === null ? task.batchId : null;
}

function queuedRun(
  { machine }: EnqueueContext,
  { host, model, limits = {}, folder, choices, isOnlyHere }: QueueRequest & { model: string | null },
  taskId: string,
): QueuedRun {
  const { labels = [], priority = 0, retry: retries = 0 } = choices;
  const { repository, bound, directory } = folder;
  const rest = { taskId, priority, retries, bound, limits, labels: [...new Set(labels)].toSorted() };
  if (isOnlyHere) return { ...rest, host, model: null, machine, remote: null, source: null, directory };
  const source = repository && { commit: repository.commit, path: repository.path, machine, directory };
  const place = { machine: source ? null : machine, remote: repository?.remote ?? null };
  return { ...rest, host, model, ...place, source };
}

async function assertRoom(transaction: Transaction, most: number): Promise<void> {
  if ((await transaction.waitingRuns(most)) < most) return;
  const message = `${most} tasks wait already. Wait until some of them have begun, or cancel some, then try again.`;
  throw new AsyncAgentsError("too_many_tasks", message, { details: { in_line: most } });
}

function assertChoices({ labels = [], priority = 0, retry = 0 }: QueueChoices): void {
  if (labels.length > MAX_LABELS) throw invalid("labels", `at most ${MAX_LABELS} are allowed`);
  for (const label of labels) assertLabel(label);
  if (!Number.isInteger(priority) || Math.abs(priority) > MAX_PRIORITY) {
    throw invalid("priority", `give a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}`);
  }
  if (!Number.isInteger(retry) || retry < 0 || retry > MAX_RETRIES) {
    throw invalid("retry", `give a whole number from 0 to ${MAX_RETRIES}`);
  }
}

/** Rejects what cannot be a label of a runner. */
export function assertLabel(label: string): void {
  if (/^[\w.-]{1,64}$/.test(label)) return;
  const rule = 'a label consists of letters, digits, ".", "_" and "-", at most 64';
  throw invalid("labels", `${JSON.stringify(label.slice(0, 100))} is not a label: ${rule}`);
}

function invalid(field: string, why: string): AsyncAgentsError {
  return new AsyncAgentsError("invalid_input", `${field}: ${why}.`, { details: { field } });
}
