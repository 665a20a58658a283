/**
 * Messages into runs at work, for any process: stored first, so that the process that drives the run, or takes it over,
 * sends them. Callers may wait for the receipt. Sends nothing itself: `runs/driven-run.ts` does.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { isSettled, type SteeringMessage } from "../model/steering.ts";
import { isLive, type Task } from "../model/task.ts";
import type { Refused } from "../model/transition.ts";
import type { Clock } from "../process/clock.ts";
import type { WaitOptions } from "../process/deadline.ts";
import type { Store } from "../store/store.ts";
import { requireText } from "./launch.ts";
import { assertMayInstruct, type CallerRights } from "./queue/owner-only.ts";

const MAX_TEXT = 50_000;

interface SteeringContext extends Pick<Clock, "now" | "after"> {
  store: Store;
  newId(prefix: string): string;
}

export async function acceptSteering(
  { store, now, newId }: Omit<SteeringContext, "after">,
  task: Task,
  { text, by }: { text: string; by: string },
  rights: CallerRights,
): Promise<SteeringMessage> {
  requireText("text", text, MAX_TEXT);
  if (!isLive(task.status)) throw ended(task);
  const id = newId("say");
  const event = { type: "steer.accepted", at: now(), run: task.run.number, id, text, by } as const;
  const outcome = await store.write(async (transaction) => {
    await assertMayInstruct(transaction, task, rights);
    return transaction.apply(task.id, event);
  });
  if (!outcome.changed) throw refused(task, outcome);
  return found(store, id);
}

/** Cancels a message that was not sent yet. */
export async function cancelSteering(
  { store, now }: Pick<SteeringContext, "store" | "now">,
  id: string,
  by: string,
  rights: CallerRights,
): Promise<SteeringMessage> {
  const { taskId, run } = await found(store, id);
  await store.write(async (transaction) => {
    await assertMayInstruct(transaction, { id: taskId }, rights);
    return transaction.apply(taskId, { type: "steer.cancelled", at: now(), run, id, by });
  });
  const message = await found(store, id);
  if (message.state === "cancelled") return message;
  throw new AsyncAgentsError("not_cancellable", tooLate(message), { details: { state: message.state } });
}

/** The message once it is settled, or as it is when the time is over. */
export async function untilSettled(
  { store, after }: Pick<SteeringContext, "store" | "after">,
  id: string,
  { timeout = 0, signal }: WaitOptions,
): Promise<SteeringMessage> {
  if (timeout <= 0) return found(store, id);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = () => void found(store, id).then((message) => isSettled(message) && resolve(), reject);
  const stop = store.onChange(look);
  const cancel = after(timeout, resolve);
  signal?.addEventListener("abort", () => resolve(), { once: true });
  look();
  try {
    await promise;
  } finally {
    stop();
    cancel();
  }
  return found(store, id);
}

async function found(store: Store, id: string): Promise<SteeringMessage> {
  const message = await store.steeringMessage(id);
  if (message !== null) return message;
  throw new AsyncAgentsError("not_found", `There is no message ${id.slice(0, 100)}. Its task may have been pruned.`);
}

function refused(task: Task, { reason, task: now }: Refused): AsyncAgentsError {
  if (reason === "ended" || reason === "stale_run") return ended(now ?? task);
  return new AsyncAgentsError("task_not_found", `There is no task ${task.id} any more.`);
}

function ended({ id, status }: Task): AsyncAgentsError {
  const message = isLive(status)
    ? `Task ${id} has begun another run meanwhile. Send the message again.`
    : `Task ${id} has ended (${status}), so it hears nothing any more. Resume it with this text.`;
  return new AsyncAgentsError("task_not_live", message);
}

function tooLate({ state, reason }: SteeringMessage): string {
  if (state === "sent") return "The message is in the agent's session already, where it is read at the next step.";
  return `The message is ${state} already${reason === null ? "" : `: ${reason}`}. There is nothing to cancel.`;
}
