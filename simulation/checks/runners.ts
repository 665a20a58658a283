/**
 * What is promised about the queue of runs and about calls between processes. What can be seen at the moment in which
 * it is committed, `world/queue-watch.ts` checks; here is what can be told only at the end, or after a while.
 */
import { awaitsRunner, isLive, type Task } from "../../src/model/task.ts";
import type { RunnerRole } from "../roles/runner.ts";
import type { QueuedAsk } from "../scenario/promises.ts";
import type { Stage } from "../scenario/stage.ts";
import type { QueuedHistory } from "../world/queue-watch.ts";
import { isInterrupted, isUnaware } from "./ends.ts";

/** How often somebody looks before a run waited too long for a runner that has nothing to do. */
const LOOKS = 8;
/** How long an agent may work on after its run went back to the queue, where nothing hinders its stop. */
const STOP_MS = 100_000;
const STOP_AFTERMATH_MS = 20_000;

function canDo({ member, process }: RunnerRole, { labels, machine }: QueuedAsk): boolean {
  const isHere = machine === null || machine === process.place;
  return isHere && labels.every((label) => member.labels.includes(label));
}

/** Every runner that could do it is gone for good, or there never was one. */
export function hasNoRunner({ machine, queue, runners }: Stage, task: Task): boolean {
  const ask = queue?.tasks.get(task.id)?.ask;
  if (ask === undefined || !awaitsRunner(task)) return false;
  return !runners.some((runner) => canDo(runner, ask) && !machine.places.isLost(runner.process.place));
}

/** Once everything is calm, no run waits while nothing runs and a runner that can do it has nothing to do. */
export class WaitingRuns {
  readonly #times = new Map<string, number>();

  async look({ queue, runners, truth, promises }: Stage): Promise<void> {
    if (queue === null) return;
    const places = queue.places();
    const isQuiet = places.every(({ state }) => state === "waiting");
    for (const { task_id: id } of places) {
      const ask = queue.tasks.get(id)?.ask;
      const idle = ask && runners.find((runner) => runner.isClaiming && runner.load === 0 && canDo(runner, ask));
      if (!idle || !isQuiet) {
        this.#times.delete(id);
        continue;
      }
      const times = (this.#times.get(id) ?? 0) + 1;
      this.#times.set(id, times);
      const task = times === LOOKS ? await truth.task(id) : null;
      if (task && awaitsRunner(task))
        promises.broken.push(`${id} waits for a runner, and ${idle.name} has nothing to do`);
    }
  }
}

/** Once, and once more for each retry that was used; never after somebody was told that it is cancelled. */
export async function queuedTasksRunAsAsked(stage: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  for (const task of tasks) {
    const queued = stage.queue?.tasks.get(task.id);
    if (!queued) continue;
    const first = (await stage.truth.runs(task.id, 200)).find(({ number }) => number === 0);
    if (!first) continue;
    const wrong = [...sends(stage, task.id, first.prompt, queued), ...worksOn(stage, task, queued)];
    const wasAsked = queued.isCancelRequested || stage.promises.stoppedRuns.has(`${task.id} 0`);
    if (isInterrupted(first) && queued.requeues < queued.ask.retry && !wasAsked)
      wrong.push(`was interrupted with ${queued.ask.retry - queued.requeues} retries left: ${first.error}`);
    if (first.outcome === "completed" && queued.beginnings.length === 0) wrong.push("is completed, and never began");
    found.push(...wrong.map((words) => `the queued task ${task.id} ${words}`));
  }
  return found;
}

function sends({ machine, promises }: Stage, id: string, prompt: string, { beginnings }: QueuedHistory): string[] {
  const found: string[] = [];
  const known = new Set(beginnings.map(({ messageId }) => messageId));
  const over = promises.overSince.get(`${id} 0`) ?? Number.POSITIVE_INFINITY;
  for (const { messageId, askedAt, sentBy, begun } of machine.work.withText(prompt)) {
    if (!known.has(messageId)) found.push(`was prompted with ${messageId}, and no claim began that`);
    if (sentBy.length > 1) found.push(`got the prompt ${messageId} from ${sentBy.join(" and ")}`);
    if (begun > 1) found.push(`was begun ${begun} times with the prompt ${messageId}`);
    if (askedAt > over && !isUnaware(machine, id, 0, sentBy))
      found.push(`was prompted with ${messageId} after somebody was told that it is cancelled`);
  }
  return found;
}

/** The agents of earlier tries: each is stopped by its own process, if that one lives. */
function worksOn({ machine }: Stage, task: Task, { beginnings }: QueuedHistory): string[] {
  const working = new Set(machine.hosts.flatMap(({ program }) => program.prompts));
  return beginnings.flatMap(({ messageId, sessionId, requeuedAt }) => {
    if (requeuedAt === null || !machine.places.has(task.host, sessionId)) return [];
    const { begunAt, endedAt, heardAt } = machine.work.of(messageId);
    if (begunAt === null || heardAt === null) return [];
    const until = working.has(messageId) ? machine.timeline.now : (endedAt ?? 0);
    const from = Math.max(requeuedAt, begunAt, heardAt);
    const ms = until > from ? machine.troubles.calm(from, until, STOP_AFTERMATH_MS) : 0;
    return ms > STOP_MS ? [`went back to the queue, and its agent worked on for ${Math.round(ms / 1000)} s`] : [];
  });
}

/** A place in the queue belongs to a live first run, and has the retries that are left. */
export function nothingIsLeftInTheQueue({ queue }: Stage, tasks: readonly Task[]): string[] {
  const found: string[] = [];
  for (const { task_id: id, state, retries } of queue?.places() ?? []) {
    const task = tasks.find((each) => each.id === id);
    const queued = queue?.tasks.get(id);
    if (!task || !isLive(task.status) || task.run.number > 0)
      found.push(`${id} has a place in the queue (${state}), and is ${task?.status ?? "not there"}`);
    if (queued && retries !== queued.ask.retry - queued.requeues)
      found.push(`${id} has ${retries} retries left, of ${queued.ask.retry}, after ${queued.requeues}`);
  }
  return found;
}

/** What another process was asked to do is done once at most, and not at all if the caller was told so. */
export async function callsAreMadeOnce({ machine, truth, promises }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found = machine.calls.repeated.map((call) => `a call was performed more than once: ${call}`);
  if (promises.undone.size === 0) return found;
  for (const { id } of tasks) {
    for (const { prompt, number } of await truth.runs(id, 200)) {
      if (promises.undone.has(prompt))
        found.push(`"${prompt}" is run ${number} of ${id}: its caller was told that nothing was done`);
    }
  }
  return found;
}
