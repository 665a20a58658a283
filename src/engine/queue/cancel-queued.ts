/** Cancels a task that waits for a runner: there is nothing to stop, so it ends at once, and its parent is told. */
import { awaitsRunner, type Task } from "../../model/task.ts";
import type { Store } from "../../store/store.ts";

interface CancelContext {
  store: Store;
  now(): number;
}

/** Null if the task does not wait any more: a runner began it, or it has ended. */
export async function cancelQueued(
  { store, now }: CancelContext,
  { id, run }: Task,
  reason: string,
): Promise<Task | null> {
  const cancelled = await store.write(async (transaction) => {
    const task = await transaction.task(id);
    if (task === null || !awaitsRunner(task) || task.run.number !== run.number) return null;
    return transaction.apply(id, { type: "run.cancelled", at: now(), run: run.number, reason, progress: null });
  });
  return cancelled?.changed ? cancelled.task : null;
}
