/** Tasks for any runner, and runners in the processes of an engine bed. */
import { PERSON } from "../../../src/engine/launch.ts";
import { Claimer, type ClaimerContext } from "../../../src/engine/queue/claimer.ts";
import { enqueueTask, type QueueChoices, type QueueRequest } from "../../../src/engine/queue/enqueue.ts";
import type { Task } from "../../../src/model/task.ts";
import { callerOf, NEVER, type Side, type World } from "../engine-bed.ts";

let ids = 0;

export const newQueueId = (prefix: string) => `${prefix}_${++ids}`;

export function enqueue(
  world: World,
  side: Side,
  prompt: string,
  choices: QueueChoices = {},
  parent = "",
): Promise<Task> {
  const caller = parent === "" ? PERSON : callerOf(parent);
  return enqueueTask(queueContext(world, side), caller, { ...requestOf(prompt), choices });
}

export function queueContext(world: World, side: Side) {
  return { store: side.store, now: world.now, newId: newQueueId, machine: "" };
}

export function requestOf(prompt: string): QueueRequest {
  const folder = { directory: "/work", repository: null, bound: null };
  return { description: "queued", prompt, batch: null, host: "scripted", agent: "", folder, choices: {} };
}

/** A runner in the process of that side. */
export function claimer(world: World, side: Side, fields: Partial<ClaimerContext> = {}): Claimer {
  const { now, monotonic, after } = world;
  const offer = { id: side.id, name: "here", hosts: ["scripted"], labels: [], machine: "", max: 4, limits: {} };
  const made = new Claimer({
    now,
    monotonic,
    after,
    store: side.store,
    log: { info: (line) => side.logged.push(line), error: (line) => side.logged.push(line) },
    offer,
    engines: () => [side.engine],
    open: async () => side.engine,
    onEntries: (listener) => side.supervisor.changes.onEntries(listener),
    onEnded: (listener) => side.engine.onEnded(listener),
    folderOf: async ({ task }) => ({ directory: task.directory, clone: null }),
    mayAct: () => true,
    leaseMs: 1_000,
    pollMs: NEVER,
    ...fields,
  });
  made.start();
  return made;
}
