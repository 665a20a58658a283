/**
 * What people see of the runners and of the tasks that wait for them: which runners live, and why a task waits. Only
 * reads.
 */
import { awaitsRunner, type Task } from "../../model/task.ts";
import { withoutCredentials } from "../../model/text/without-credentials.ts";
import type { WaitingRun } from "../../store/queue/run-queue.ts";
import type { SeenRunner } from "../../store/runners/records.ts";
import type { Instance, Store } from "../../store/store.ts";
import { folderReason, waitReason } from "./wait-reason.ts";

/** `gone`: it died, or cannot reach the store, and did not say that it ends. */
export interface FleetRunner extends Omit<SeenRunner, "state"> {
  state: SeenRunner["state"] | "gone";
}

/** A task's place in the queue, and why it is still there. */
export interface QueuePlace extends WaitingRun {
  /** Null if a runner is about to begin it. */
  waitsFor: string | null;
}

interface FleetContext {
  store: Store;
  isAlive(instance: Instance): boolean;
}

/** Runners that live, and those that are gone for up to an hour; newest start first. */
export async function readFleet({ store, isAlive }: FleetContext): Promise<FleetRunner[]> {
  const [runners, instances] = await Promise.all([store.runners.list(), store.instances()]);
  const living = new Set(instances.filter((each) => isAlive(each)).map(({ id }) => id));
  return runners.map((runner) => {
    const isGone = runner.state !== "ended" && !living.has(runner.id);
    const lacks = runner.lacks.map(({ kind, name, reason }) => ({ kind, name: shown(name), reason: shown(reason) }));
    return { ...runner, lacks, state: isGone ? "gone" : runner.state };
  });
}

/** The places of those tasks that wait for a runner, by the ids of the tasks. */
export async function readQueuePlaces(
  context: FleetContext,
  tasks: readonly Pick<Task, "id" | "status" | "sessionId">[],
): Promise<Map<string, QueuePlace>> {
  const ids = tasks.filter(awaitsRunner).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const { store } = context;
  const [waiting, runners, instances] = await Promise.all([
    store.queue.waiting(ids),
    readFleet(context),
    store.instances(),
  ]);
  const living = instances.filter((each) => context.isAlive(each));
  const isLimited = runners.some(({ limits }) => Object.keys(limits).length > 0);
  const atWork = isLimited ? await store.queue.atWork() : [];
  return new Map(
    waiting.map((stored) => {
      const run = { ...stored, remote: shown(stored.remote), trouble: shown(stored.trouble) };
      return [run.taskId, { ...run, waitsFor: folderReason(run, living) ?? waitReason(run, runners, atWork) }];
    }),
  );
}

/** Earlier versions stored addresses of repositories with the token that was in them. */
function shown<T extends string | null>(text: T): T {
  return (text === null ? null : withoutCredentials(text)) as T;
}
