/**
 * What is promised about tasks that start after others: each begins once, and only after all of them have ended, as its
 * policy says; one that is not run names a task that did not complete. Read from the feed, in the order of its entries.
 */
import type { TaskEvent } from "../../src/model/events.ts";
import { awaitsRunner, type Task } from "../../src/model/task.ts";
import type { FeedEntry } from "../../src/store/store.ts";
import type { Stage } from "../scenario/stage.ts";
import { hasNoRunner } from "./runners.ts";

const ENDS: ReadonlySet<TaskEvent["type"]> = new Set(["run.completed", "run.failed", "run.cancelled"]);

export async function startsAreInOrder({ truth }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  const entriesOf = (id: string) => truth.entriesOf([id], { after: 0, before: Number.MAX_SAFE_INTEGER }, 5_000);
  for (const task of tasks) {
    if (task.after === null) continue;
    const entries = await entriesOf(task.id);
    const claims = entries.filter(({ event }) => event.type === "task.claimed");
    if (claims.length > 1) found.push(`${task.id} starts after others, and began ${claims.length} times`);
    const decided = claims.length > 0 ? startable(entries) : skipped(entries);
    if (decided === null) continue;
    const states = new Map<string, TaskEvent["type"] | null>();
    for (const id of task.after.tasks) states.set(id, lastBefore(await entriesOf(id), decided));
    const early = [...states].filter(([, last]) => last === null || !ENDS.has(last)).map(([id]) => id);
    const failed = [...states].filter(([, last]) => last !== null && ENDS.has(last) && last !== "run.completed");
    if (claims.length > 0) {
      if (early.length > 0) found.push(`${task.id} began before ${early.join(" and ")} had ended`);
      if (failed.length > 0 && task.after.ifFailed === "skip")
        found.push(`${task.id} began, although ${failed.map(([id]) => id).join(" and ")} did not complete`);
    } else if (!failed.some(([id]) => task.run.error?.includes(id))) {
      found.push(`${task.id} was not run, and nothing of the kind had happened: ${task.run.error}`);
    }
  }
  return found;
}

/** Tasks that nobody can do: every runner or machine that could is gone for good, also if it is for one before them. */
export async function waitingForNobody(stage: Stage, tasks: readonly Task[]): Promise<Set<string>> {
  const { truth, machine } = stage;
  const held = tasks.filter(awaitsRunner);
  const runs = held.length === 0 ? [] : await truth.queue.waiting(held.map(({ id }) => id));
  const isLost = ({ directory = null, machine: place }: (typeof runs)[number]) =>
    directory !== null && machine.places.isLost(place ?? "");
  const lost = new Set(runs.filter(isLost).map(({ taskId }) => taskId));
  for (const task of held) if (hasNoRunner(stage, task)) lost.add(task.id);
  for (let known = -1; known < lost.size; ) {
    known = lost.size;
    for (const { id, after } of held) if (after?.tasks.some((each) => lost.has(each))) lost.add(id);
  }
  return lost;
}

/** When it was decided that it may start: when it was stored, or later. Once claimed, it may wait for a slot. */
function startable(entries: readonly FeedEntry[]): number | null {
  const claimed = entries.findIndex(({ event }) => event.type === "task.claimed");
  const decided = entries
    .slice(0, claimed)
    .findLast(({ event }) => event.type === "run.phased" && event.phase === "queued" && event.detail === null);
  return (decided ?? entries[0])?.seq ?? null;
}

/** When it was decided that it is not run; null if somebody cancelled it, or its claim failed. */
function skipped(entries: readonly FeedEntry[]): number | null {
  const ended = entries.find(({ event }) => event.type === "run.cancelled" && event.reason.startsWith("Not run: "));
  return ended?.seq ?? null;
}

/** The newest end or beginning of a run before that entry. */
function lastBefore(entries: readonly FeedEntry[], seq: number): TaskEvent["type"] | null {
  const known = entries.filter((entry) => entry.seq < seq);
  const last = known.findLast(({ event: { type } }) => ENDS.has(type) || type === "task.resumed");
  return last?.event.type ?? null;
}
