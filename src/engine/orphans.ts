/**
 * What dead processes left in the store: live tasks and launches without a living owner, and their instances. Looks only;
 * an engine of the right host puts it right.
 */
import type { Task } from "../model/task.ts";
import type { Instance, Launch, Store } from "../store/store.ts";

const PAGE = 200;

/** Live tasks of one kind of host. */
export interface OrphanGroup {
  host: string;
  tasks: Task[];
}

export interface Orphans {
  groups: OrphanGroup[];
  launches: Launch[];
  dead: Instance[];
  /** Another process lives: it may die, and leave something. */
  foreign: boolean;
}

export async function findOrphans(store: Store, isAlive: (instance: Instance) => boolean): Promise<Orphans> {
  const instances = await store.instances();
  const dead = instances.filter((instance) => !isAlive(instance));
  const living = new Set(instances.filter((instance) => !dead.includes(instance)).map(({ id }) => id));
  const groups = new Map<string, OrphanGroup>();
  for (const task of await liveTasks(store)) {
    if (task.owner !== null && living.has(task.owner)) continue;
    const group = groups.get(task.host) ?? { host: task.host, tasks: [] };
    group.tasks.push(task);
    groups.set(task.host, group);
  }
  const launches = (await store.launches()).filter(({ owner }) => !living.has(owner));
  const foreign = instances.some((instance) => living.has(instance.id) && instance.pid !== process.pid);
  return { groups: [...groups.values()], launches, dead, foreign };
}

/** Every live task, oldest first, without its texts. */
export async function liveTasks(store: Store): Promise<Task[]> {
  const found: Task[] = [];
  for (;;) {
    const query = { status: ["running", "resumed"], limit: PAGE, offset: found.length, order: "oldest" } as const;
    const { tasks } = await store.tasks({ ...query, textChars: 0 });
    found.push(...tasks);
    if (tasks.length < PAGE) return found;
  }
}
