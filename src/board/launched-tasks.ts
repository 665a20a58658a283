/**
 * Tasks without a project: launched in a folder, waited for by handle, and answered; and what any task needs a person
 * for, which models may look at. A handle is the engine's task id.
 */
import { afterOf } from "../engine/queue/after.ts";
import { Overview } from "../engine/watching/overview.ts";
import { budgetId } from "../model/budgets/budget.ts";
import { requireBudget, usageText } from "../model/budgets/budget-text.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { endsWait, isLive, type Task } from "../model/task.ts";
import { callerName, isOwner } from "../protocol/call-origin.ts";
import { FAILED_HOURS } from "../protocol/inbox.ts";
import type { OperationOutput } from "../protocol/operations.ts";
import type { Instance } from "../store/store.ts";
import type { Repo } from "../worktree/git/repo.ts";
import { answerTask } from "./answer-task.ts";
import { assertDirectory, assertRepo } from "./approvals.ts";
import { findAttempt } from "./attempts/attempts.ts";
import type { BoardCall } from "./board-call.ts";
import type { BoardParts } from "./board-context.ts";
import { assertUsable, placeFor, runChoicesOf } from "./executors.ts";
import type { Input } from "./input.ts";
import { folderOf, launchTask, queueTask } from "./launch-task.ts";
import { notFound } from "./not-found.ts";
import { askedOf, finalMessage, progressLine, requiredText, wireTime } from "./wire.ts";

const DESCRIPTION = 100;
const HOUR_MS = 3_600_000;
const ASKED_CHARS = 1000;
const INBOX_LIMIT = 50;

export async function launchInFolder(
  parts: BoardParts,
  input: Input<"launch_task">,
  call: BoardCall,
): Promise<OperationOutput<"launch_task">> {
  const prompt = requiredText("prompt", input.prompt);
  const directory = folderOf(requiredText("directory", input.directory));
  const { executor = "OPENCODE" } = input;
  const { host, variant } = placeFor(parts, { executor, variant: input.variant }, call);
  await assertDirectory(parts, directory, call);
  const description = input.description?.trim() || (prompt.trim().split("\n")[0] ?? "").slice(0, DESCRIPTION);
  const choices = runChoicesOf(host, input, call);
  const after = input.after === undefined ? {} : { after: afterOf(input.after, input.if_failed) };
  if (input.worktree === true && (input.queue ?? input.after) !== undefined) throw laterWorktree();
  const launch = { description, prompt, agent: variant, batch: null, host, directory, ...choices, ...after };
  if (input.queue !== undefined) {
    const { task, bound } = await queueTask(parts.desk, { ...launch, choices: input.queue }, call.origin);
    return { handle: task.id, status: task.status, ...(bound !== null && { only_here: bound }) };
  }
  await assertUsable(parts, { host, variant, directory });
  if (input.worktree === true) return launchInWorktree(parts, launch, call);
  const launched = await launchTask(parts.desk, launch, async () => null);
  if ("instance" in launched) throw elsewhere(launched.instance);
  return { handle: launched.task.id, status: launched.task.status };
}

async function launchInWorktree(
  parts: BoardParts,
  launch: Parameters<typeof launchTask>[1] & { directory: string },
  call: BoardCall,
): Promise<OperationOutput<"launch_task">> {
  const { desk, taskWorktrees, newId } = parts;
  const mayUse = (repo: Repo) => assertRepo(parts, repo, call);
  const place = { id: newId(), name: launch.description, directory: launch.directory, mayUse };
  return taskWorktrees.launch(place, async ({ directory, branch, warnings }) => {
    const launched = await launchTask(desk, { ...launch, directory }, async () => null);
    if ("instance" in launched) throw elsewhere(launched.instance);
    const { id: handle, status } = launched.task;
    return { handle, status, worktree: { directory, branch }, ...(warnings.length > 0 && { warnings }) };
  });
}

export async function waitTasks(
  parts: BoardParts,
  input: Input<"wait_tasks">,
  signal?: AbortSignal,
): Promise<OperationOutput<"wait_tasks">> {
  const { handles, until = "all", wait_ms = 0 } = input;
  for (const handle of handles) await findTask(parts, handle);
  if (wait_ms > 0) await waited(parts, handles, { until, wait_ms }, signal);
  const tasks = await Promise.all(handles.map((handle) => findTask(parts, handle)));
  const isDone = until === "any" ? tasks.some(endsWait) : tasks.every(endsWait);
  const shown = tasks.map(async (task) => {
    const changes = isLive(task.status) ? null : await parts.taskWorktrees.textOf(task);
    return { ...wireTask(task), ...(changes !== null && { changes }) };
  });
  return { tasks: await Promise.all(shown), done: isDone };
}

async function waited(
  { waiter }: BoardParts,
  handles: readonly string[],
  { until, wait_ms }: { until: "any" | "all"; wait_ms: number },
  signal?: AbortSignal,
): Promise<void> {
  const enough = new AbortController();
  const any = signal === undefined ? enough.signal : AbortSignal.any([signal, enough.signal]);
  const waits = [...new Set(handles)].map((handle) =>
    waiter.until(handle, endsWait, { timeout: wait_ms, signal: any }),
  );
  try {
    await (until === "any" ? Promise.race(waits) : Promise.all(waits));
  } finally {
    enough.abort();
    await Promise.allSettled(waits);
  }
}

export async function answerQuestion(
  parts: BoardParts,
  input: Input<"answer_question">,
  { origin }: BoardCall,
): Promise<OperationOutput<"answer_question">> {
  const task = await taskAtWork(parts, input);
  const detail = isLive(task.status) && task.phaseDetail?.kind === "waiting" ? task.phaseDetail : null;
  if (detail?.asks === "permission") {
    const message = `It asks for a permission, which a person must answer, in the dashboard or the command line: ${detail.text.slice(0, 500)}`;
    throw new AsyncAgentsError("not_allowed", message, { details: { asks: "permission" } });
  }
  const reply = { kind: "question", answers: input.answers } as const;
  const other = await answerTask(parts.desk, async () => task, { reply, requestId: undefined, via: undefined }, origin);
  if (other !== null) await parts.remote.call(other, "answer", { id: task.id, input: reply, origin });
  return { answered: true };
}

export async function listInbox(
  { store, now }: BoardParts,
  { limit = INBOX_LIMIT }: Input<"list_inbox">,
): Promise<OperationOutput<"list_inbox">> {
  const { entries } = await new Overview(store).inbox({ failedAfter: now() - FAILED_HOURS * HOUR_MS });
  const shown = entries.slice(0, limit).map(({ kind, text, task, approval, subject, since }) => ({
    kind,
    asked: text.slice(0, ASKED_CHARS),
    handle: task?.id ?? null,
    description: task?.description ?? approval?.askedBy ?? subject ?? "",
    agent: task?.agent ?? null,
    directory: task?.directory ?? approval?.directory ?? "",
    since: wireTime(since),
  }));
  return { entries: shown, count: entries.length };
}

export async function steerTask(
  parts: BoardParts,
  input: Input<"steer_task">,
  call: BoardCall,
): Promise<OperationOutput<"steer_task">> {
  const task = await taskAtWork(parts, input);
  await assertDirectory(parts, task.directory, call);
  const { signal, origin } = call;
  const wait = { timeout: input.wait_ms ?? 0, ...(signal && { signal }), isOwner: isOwner(origin) };
  const { state, reason } = await parts.desk.steer(task, { text: input.text, by: callerName(origin) }, wait);
  return { state, reason };
}

/** Whoever calls: what is for models never raises. */
export async function lowerBudget(
  { store, now, ...parts }: BoardParts,
  { handle, budget }: Input<"lower_budget">,
  { origin }: BoardCall,
): Promise<OperationOutput<"lower_budget">> {
  const { id } = await findTask({ store, now, ...parts }, handle);
  const given = Object.entries(requireBudget(budget)).filter(([, limit]) => limit !== null);
  const change = { limits: Object.fromEntries(given), by: callerName(origin), at: now(), mayRaise: false };
  return { budget: usageText(await store.budgets.set(budgetId("task", id), change)) };
}

function laterWorktree(): AsyncAgentsError {
  const message = "worktree excludes queue and after: it is made now, from what is there now. Give one of them.";
  return new AsyncAgentsError("invalid_input", message, { details: { field: "worktree" } });
}

function elsewhere({ pid }: Instance): AsyncAgentsError {
  const message = `Another program (pid ${pid}) works in this directory. Launch it there.`;
  return new AsyncAgentsError("host_unavailable", message, { details: { pid } });
}

async function taskAtWork(
  parts: BoardParts,
  { attempt_id, handle }: Pick<Input<"answer_question">, "attempt_id" | "handle">,
): Promise<Task> {
  if (attempt_id !== undefined && handle !== undefined) {
    const message = "attempt_id and handle exclude each other. Give the one that is meant.";
    throw new AsyncAgentsError("invalid_input", message, { details: { field: "handle" } });
  }
  if (handle !== undefined) return findTask(parts, handle);
  if (attempt_id === undefined) {
    const message = "attempt_id or handle is missing: which one is meant?";
    throw new AsyncAgentsError("missing_required", message, { details: { field: "attempt_id" } });
  }
  const { task } = await findAttempt(parts, attempt_id);
  if (task !== null) return task;
  throw new AsyncAgentsError("session_missing", `Attempt ${attempt_id} has no session, so there is nobody to talk to.`);
}

async function findTask({ store }: BoardParts, handle: string): Promise<Task> {
  const task = await store.task(handle);
  if (task === null) throw notFound("handle", handle);
  return task;
}

function wireTask(task: Task): OperationOutput<"wait_tasks">["tasks"][number] {
  return {
    handle: task.id,
    description: task.description,
    status: task.status,
    asked: askedOf(task),
    progress: progressLine(task),
    result: finalMessage(task),
    error: isLive(task.status) ? null : task.run.error,
  };
}
