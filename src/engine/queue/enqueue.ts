/**
 * Queues a task for any runner: checks what can be checked without a host, and stores the task, without a session,
 * together with its place in the queue. Whether the agent exists, only the runner can say.
 */

import { AsyncAgentsError } from "../../model/errors.ts";
import type { TaskEvent } from "../../model/events.ts";
import type { Task } from "../../model/task.ts";
import type { RunSource } from "../../store/queue/run-queue.ts";
import type { Store, Transaction } from "../../store/store.ts";
import { assertRequest, batchFor, type Caller, type LaunchRequest } from "../launch.ts";

const MAX_LABELS = 10;
const MAX_PRIORITY = 1_000;
const MAX_RETRIES = 10;

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

export interface QueueRequest extends Pick<LaunchRequest, "description" | "prompt" | "batch" | "model" | "limits"> {
  host: string;
  /** The host's default agent when empty. */
  agent: string;
  folder: QueueFolder;
  choices: QueueChoices;
  /** Rejected if so many wait already. No limit when absent. */
  mostWaiting?: number;
}

interface EnqueueContext {
  store: Store;
  /** The machine that has the folder; empty if only one uses the store. */
  machine: string;
  now(): number;
  newId(prefix: string): string;
}

/** Resolves when the task is stored and runners can claim it. */
export async function enqueueTask(context: EnqueueContext, caller: Caller, request: QueueRequest): Promise<Task> {
  assertRequest(request);
  assertChoices(request.choices);
  const { store, now, newId, machine } = context;
  const { host, agent, model = caller.model, limits = {}, folder } = request;
  const { labels = [], priority = 0, retry = 0 } = request.choices;
  const id = newId("tsk");
  const { repository, bound, directory } = folder;
  const source = repository && { commit: repository.commit, path: repository.path, machine, directory };
  const place = { machine: source ? null : machine, remote: repository?.remote ?? null };
  const needs = { host, model, labels: [...new Set(labels)].toSorted(), ...place };
  await store.queue.open(needs);
  const run = { ...needs, taskId: id, priority, retries: retry, source, bound, limits };
  const createdIn = (batchId: string): TaskEvent => {
    const task = {
      id,
      sessionId: "",
      host,
      directory,
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
    };
    return { type: "task.created", at: now(), task };
  };
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

async function assertRoom(transaction: Transaction, most: number): Promise<void> {
  if ((await transaction.waitingRuns(most)) < most) return;
  const message = `${most} tasks wait for a runner already. Wait until runners have begun some, or cancel some, then try again.`;
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
