/**
 * Who says what agents do on other machines: the owner alone. What others queue stays on its machine (`enqueue.ts`),
 * and what the owner queued for any machine takes no prompt and no message from others while another machine may begin
 * it. The one rule for everything that changes a task whose machine is not known yet.
 */
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Task } from "../../model/task.ts";
import type { Transaction } from "../../store/store.ts";

export interface CallerRights {
  /** Whether the caller may approve what agents do here. */
  isOwner: boolean;
}

/**
 * In the transaction of the change, because a runner may begin the task at any moment. `directory`: where the caller
 * was found to be allowed to work.
 */
export async function assertMayInstruct(
  transaction: Transaction,
  { id, directory }: Pick<Task, "id"> & { directory?: string },
  { isOwner }: CallerRights,
): Promise<void> {
  if (isOwner) return;
  const [task] = await transaction.tasks([id]);
  if (await transaction.mayBeginAnywhere(id)) {
    const message = `Task ${id} may begin on any machine, so only the owner changes it or tells it something: a person at this machine, or a token with the role admin. Queue a task of your own, or ask the owner.`;
    throw new AsyncAgentsError("not_allowed", message);
  }
  if (task === undefined || directory === undefined || task.directory === directory) return;
  const message = `Task ${id} has begun in another folder meanwhile: ${task.directory}. Look at it, then try again.`;
  throw new AsyncAgentsError("not_allowed", message);
}
