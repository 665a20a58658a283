/**
 * What is promised about the queues of follow-ups: each prompt runs once, a queue goes on when its session is idle, and
 * one that is on hold waits. When a queue is on hold is written out here: the rule of the code is what is checked.
 */
import type { FollowUp } from "../../src/model/board.ts";
import { isLive, type Run, type Task } from "../../src/model/task.ts";
import type { Stage } from "../scenario/stage.ts";
import { isInterrupted } from "./ends.ts";

/** A queue goes on after such a run. After any other, it is on hold until somebody adds to it. */
function isGood(run: Run): boolean {
  return run.outcome === "completed" || isInterrupted(run);
}

/** Nothing waits in the queue of an idle session, unless it is on hold or its session is gone. */
export async function queuesGoOn({ machine, truth }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  for (const id of await truth.board.queuedSessions()) {
    const session = await truth.board.session(id);
    const task = tasks.find((each) => each.id === session?.taskId);
    if (!task || isLive(task.status) || !machine.hasSession(task)) continue;
    const queued = await truth.board.followUps(id, 200);
    const wasAdded = ({ afterRun }: FollowUp) => afterRun === task.run.number;
    const [head] = queued;
    if (head && (isGood(task.run) || queued.some(wasAdded)))
      found.push(`"${head.prompt}" waits for ${task.id}, which is idle: ${head.error}`);
  }
  return found;
}

/** After a run that failed or was stopped, nothing of the queue runs before somebody has added to it. */
export async function heldQueuesWait({ machine, truth, promises }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  const prompts = new Set(promises.queueing.map(({ prompt }) => prompt));
  for (const { id, batchId } of tasks) {
    const runs = await truth.runs(id, 200);
    for (const { prompt, number } of runs.filter((run) => prompts.has(run.prompt))) {
      const before = runs.find((run) => run.number === number - 1);
      if (!before || isGood(before)) continue;
      const heldAt = machine.ends.of(id, before.number) ?? 0;
      if (promises.queueing.some(({ attempt, until }) => attempt === batchId && until >= heldAt)) continue;
      found.push(`"${prompt}" became run ${number} of ${id} after one that was ${before.outcome}: ${before.error}`);
    }
  }
  return found;
}

/** What was queued first runs first: a prompt that was queued when the other one had been answered comes after it. */
export async function queuesKeepTheirOrder({ truth, promises }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  const runs = (await Promise.all(tasks.map(({ id }) => truth.runs(id, 200)))).flat();
  const numbers = new Map(runs.map(({ prompt, number }) => [prompt, number]));
  for (const first of promises.queueing) {
    if (!promises.queued.has(first.prompt) || promises.emptied.has(first.attempt)) continue;
    const own = numbers.get(first.prompt) ?? Number.POSITIVE_INFINITY;
    for (const { attempt, prompt, from } of promises.queueing) {
      const number = numbers.get(prompt);
      if (attempt === first.attempt && from > first.until && number !== undefined && number < own)
        found.push(`"${prompt}" became run ${number}, and "${first.prompt}" had been queued before it`);
    }
  }
  return found;
}

/** Exactly once, or it is still queued, or somebody emptied the queue. */
export async function queuedPromptsRunOnce(
  { machine, truth, promises }: Stage,
  tasks: readonly Task[],
): Promise<string[]> {
  const found: string[] = [];
  const runs = (await Promise.all(tasks.map(({ id }) => truth.runs(id, 200)))).flat();
  for (const [prompt, attempt] of promises.queued) {
    const own = runs.filter((run) => run.prompt === prompt);
    if (own.length > 1) found.push(`"${prompt}" was queued once and became ${own.length} runs`);
    if (own.length > 0 || promises.emptied.has(attempt)) continue;
    const session = (await truth.board.attempt(attempt))?.latestSession?.id ?? "";
    const queued = await truth.board.followUps(session, 200);
    if (!queued.some((followUp) => followUp.prompt === prompt)) found.push(`"${prompt}" was queued and is gone`);
  }
  for (const prompt of promises.sent) {
    if (!runs.some((run) => run.prompt === prompt)) found.push(`"${prompt}" was answered with a run that is not there`);
  }
  for (const { prompt, messageId, number, outcome, error } of runs) {
    const { sentBy } = machine.work.of(messageId);
    if (promises.queued.has(prompt) && sentBy.length === 0 && !saysThatItDidNotRun(outcome, error))
      found.push(`"${prompt}" became run ${number} and was never sent: ${error}`);
  }
  return found;
}

/**
 * A prompt leaves the queue when its run begins, and is not sent again: the first one may have had effects. If its
 * process dies before it is sent, if the call fails or if somebody cancels or deletes it, its run says so.
 */
function saysThatItDidNotRun(outcome: Run["outcome"], error: string | null): boolean {
  if (outcome === "cancelled") return true;
  return error !== null && /^interrupted:|session was deleted|did not arrive|not known whether the prompt/.test(error);
}
