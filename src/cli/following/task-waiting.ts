/**
 * Waits for tasks through the event stream: resolves when all have ended, on timeout, or on Ctrl-C. Reports
 * meanwhile what a person should know about them (`task-hints.ts`). Changes nothing.
 */

import { isLive } from "../../model/task.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { shortId } from "../terminal/text.ts";
import { liveEvents } from "./live-events.ts";
import { queuedReason, TaskHints } from "./task-hints.ts";

interface TaskWaitResult {
  /** Their last known states, in the order of the ids. */
  tasks: BackgroundTask[];
  ended: boolean;
  exitCode: number;
}

interface TaskWaitOptions {
  timeoutMs?: number | undefined;
  onEnd?(task: BackgroundTask): void;
}

export async function waitForTasks(
  invocation: Invocation,
  tasks: readonly BackgroundTask[],
  { timeoutMs, onEnd }: TaskWaitOptions = {},
): Promise<TaskWaitResult> {
  const known = new Map(tasks.map((task) => [task.id, task]));
  const hints = new TaskHints(invocation);
  const told = new Set<string>();
  const limit = timeoutMs === undefined ? null : AbortSignal.timeout(Math.min(timeoutMs, 2 ** 31 - 1));
  const stop = limit ? AbortSignal.any([limit, invocation.signal]) : invocation.signal;
  const see = (task: BackgroundTask) => {
    known.set(task.id, task);
    hints.see(task);
    if (isLive(task.status) || told.has(task.id)) return;
    told.add(task.id);
    onEnd?.(task);
  };
  const done = () => [...known.values()].every(({ status }) => !isLive(status));
  for (const task of tasks) see(task);
  if (!done()) await invocation.screen.during(waitingText(known), follow(invocation, known, see, done, stop));
  return outcome(invocation, [...known.values()], done(), limit?.aborted ?? false);
}

async function follow(
  { connection }: Invocation,
  known: ReadonlyMap<string, BackgroundTask>,
  see: (task: BackgroundTask) => void,
  done: () => boolean,
  stop: AbortSignal,
): Promise<void> {
  try {
    for await (const { client, event } of liveEvents(connection, stop)) {
      // A snapshot may not contain all tasks.
      if (event.type === "snapshot") for (const id of known.keys()) see(await client.task(id, stop));
      else if ("task" in event && known.has(event.task.id)) see(event.task);
      if (done()) return;
    }
  } catch (thrown) {
    // A call that Ctrl-C or the timeout aborted did not fail.
    if (!stop.aborted) throw thrown;
  }
}

function waitingText(known: ReadonlyMap<string, BackgroundTask>): string {
  const live = [...known.values()].filter(({ status }) => isLive(status));
  return live.length === 1 ? `waiting for "${live[0]?.description}"` : `waiting for ${live.length} tasks`;
}

function outcome(invocation: Invocation, tasks: BackgroundTask[], ended: boolean, late: boolean): TaskWaitResult {
  const { screen, signal } = invocation;
  if (ended) {
    const exitCode = tasks.every(({ status }) => status === "completed") ? EXIT.ok : EXIT.failed;
    return { tasks, ended, exitCode };
  }
  const live = tasks.filter(({ status }) => isLive(status));
  const goesOn = `${stillText(live, invocation)} Wait again: asyncagents wait ${live.map(({ id }) => shortId(id)).join(" ")}`;
  screen.hint(late && !signal.aborted ? `Timed out. ${goesOn}` : goesOn);
  return { tasks, ended, exitCode: late && !signal.aborted ? EXIT.timeout : EXIT.interrupted };
}

function stillText(live: readonly BackgroundTask[], invocation: Invocation): string {
  const queued = live.filter(({ phase }) => phase === "queued");
  const [first] = live;
  if (live.length > 1) {
    if (queued.length === 0) return `${live.length} tasks are still running.`;
    return `${live.length} tasks have not ended, ${queued.length} of them queued.`;
  }
  const name = `Task ${shortId(first?.id ?? "")}`;
  if (queued.length === 0 || !first) return `${name} is still running.`;
  const reason = queuedReason(first, invocation);
  return reason === null ? `${name} is still queued.` : `${name} still waits: ${reason}`;
}
