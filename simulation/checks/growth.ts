/**
 * Nothing grows without bound: when everything has come to rest, a process has a few timers and listeners, however much
 * it has done; the feed has a few entries for each run; and only living processes are registered. What is inside of
 * the processes' own objects cannot be seen from here.
 */
import type { Task } from "../../src/model/task.ts";
import type { Role } from "../roles/role.ts";
import type { Stage } from "../scenario/stage.ts";

/** Of a process, without those of turns that its agents are in. */
const MOST_TIMERS = 12;
/** The supervisor's, the board's and the queue's; one more takes the calls for an instance of the process itself. */
const MOST_STORE_LISTENERS = 3;
const MOST_HOST_LISTENERS = 1;
/** Created, phases, asked and answered, stalled, ended, told, retrieved; superseded progress is removed. */
const MOST_ENTRIES = 20;
/** Paused, told, continued, working, and asked and answered between two pauses. Pauses are limited by the settings. */
const MOST_ENTRIES_OF_PAUSE = 8;
/** Asked, answered, and that the answer was taken. More than usual come of a person who works in the session. */
const MOST_ENTRIES_OF_REQUEST = 3;
const USUAL_REQUESTS = 3;

export async function nothingGrows(stage: Stage, tasks: readonly Task[]): Promise<string[]> {
  return [
    ...stage.roles.flatMap((role) => growthOf(stage, role)),
    ...(await feedGrowth(stage, tasks)),
    ...(await forgottenInstances(stage)),
  ];
}

function growthOf({ machine }: Stage, role: Role): string[] {
  const found: string[] = [];
  const { name, process } = role;
  const { timers, isAlive } = process;
  // That of a machine that is gone for good is not at rest: it stopped in the middle of its work.
  if (!isAlive) return [];
  if (timers > MOST_TIMERS) found.push(`${name} is at rest and has ${timers} timers`);
  const store = machine.storeListeners(process);
  const most = MOST_STORE_LISTENERS + (role.instances?.().length ?? 0);
  if (store > most) found.push(`${name} listens ${store} times to the store`);
  for (const { listeners } of role.hosts()) {
    if (listeners > MOST_HOST_LISTENERS) found.push(`${name} listens ${listeners} times to one host`);
  }
  return found;
}

async function feedGrowth({ truth }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const entries = new Map<string, number>();
  const pauses = new Map<string, number>();
  const requests = new Map<string, number>();
  let seq = 0;
  for (;;) {
    const page = await truth.feed(seq, 5_000);
    if (page.length === 0) break;
    for (const { taskId, event } of page) {
      entries.set(taskId, (entries.get(taskId) ?? 0) + 1);
      if (event.type === "run.paused") pauses.set(taskId, (pauses.get(taskId) ?? 0) + 1);
      if (event.type === "run.phased" && event.phase === "waiting")
        requests.set(taskId, (requests.get(taskId) ?? 0) + 1);
    }
    seq = page.at(-1)?.seq ?? seq;
  }
  const mostOf = (id: string, runs: number) => {
    const manyRequests = Math.max(0, (requests.get(id) ?? 0) - runs * USUAL_REQUESTS);
    return runs * MOST_ENTRIES + (pauses.get(id) ?? 0) * MOST_ENTRIES_OF_PAUSE + manyRequests * MOST_ENTRIES_OF_REQUEST;
  };
  return tasks
    .map(({ id, run }) => ({ id, runs: run.number + 1, count: entries.get(id) ?? 0 }))
    .filter(({ id, runs, count }) => count > mostOf(id, runs))
    .map(({ id, runs, count }) => `the feed has ${count} entries for ${runs} runs of ${id}`);
}

/** A dead process is noticed by a living one, which removes its instances. */
export async function forgottenInstances({ truth, roles }: Stage): Promise<string[]> {
  const living = new Set(
    roles.flatMap((role) => [...role.engines().map(({ instance }) => instance.id), ...(role.instances?.() ?? [])]),
  );
  return (await truth.instances())
    .filter(({ id }) => !living.has(id))
    .map(({ id, pid }) => `instance ${id} of process ${pid} is still registered, and nobody runs it`);
}
