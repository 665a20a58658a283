/**
 * Finds what dead processes left in the store: live tasks and launches without a living owner, and their instances; and
 * ends an instance, so that others may take over what it had. Invariant: owners and launches are read before instances,
 * so that each owner had registered by then; a process that starts in between is not mistaken for a dead one. Every
 * process does this every few seconds, so it reads only tasks whose owner is gone.
 */
import type { Task } from "../../model/task.ts";
import type { Instance, Launch, Store } from "../../store/store.ts";
import { allTasks } from "../watching/all-tasks.ts";

interface Orphans {
  tasks: Task[];
  launches: Launch[];
  dead: Instance[];
  living: Instance[];
}

export async function findOrphans(store: Store, isAlive: (instance: Instance) => boolean): Promise<Orphans> {
  const [owners, ownerless] = [await store.owners(), await store.ownerless()];
  const launches = await allLaunches(store);
  const instances = await store.instances();
  const living = instances.filter(isAlive);
  const alive = new Set(living.map(({ id }) => id));
  const isOwned = ({ owner }: { owner: string | null }) => owner !== null && alive.has(owner);
  const orphaned: Task[] = [...ownerless];
  for (const owner of owners.filter((each) => !isOwned({ owner: each }))) {
    orphaned.push(...(await allTasks(store, { owner, status: ["running", "resumed"] })));
  }
  return {
    tasks: orphaned.toSorted((one, other) => one.startedAt - other.startedAt),
    launches: launches.filter((launch) => !isOwned(launch)),
    dead: instances.filter(({ id }) => !alive.has(id)),
    living,
  };
}

/**
 * Ends an instance that was found dead. If its lease showed that, the database has the last word. False if it lives
 * after all.
 */
export async function endDead(store: Store, { id, leaseLeft }: Instance): Promise<boolean> {
  if (leaseLeft !== null && leaseLeft <= 0) return store.expireInstance(id);
  await store.endInstance(id);
  return true;
}

/** Every launch without a task yet, oldest first. */
export async function allLaunches(store: Pick<Store, "launches">): Promise<Launch[]> {
  const found: Launch[] = [];
  for (;;) {
    const page = await store.launches(found.at(-1));
    if (page.length === 0) return found;
    found.push(...page);
  }
}
