/**
 * Answering what a task waits for: the one way for the dashboard, the command line, other programs and models. Only a
 * person may answer a permission request. Finds the instance that drives the task, and answers if it is in this
 * process.
 */
import type { Desk } from "../engine/desk.ts";
import type { Reply } from "../hosts/host.ts";
import type { Answerer } from "../model/answer.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import type { Task } from "../model/task.ts";
import { type CallOrigin, isPerson } from "../protocol/call-origin.ts";
import type { Instance } from "../store/store.ts";

interface TaskAnswer {
  reply: Reply;
  /** The request that is answered; whatever the task asks now when undefined. */
  requestId: string | undefined;
  /** Where a person answers, if known. */
  via: Answerer | undefined;
}

/**
 * Returns null once it is answered, or the instance that has to be asked instead. The task is looked up after the
 * caller is checked.
 */
export async function answerTask(
  desk: Desk,
  find: () => Promise<Task>,
  { reply, requestId, via }: TaskAnswer,
  origin: CallOrigin,
): Promise<Instance | null> {
  if (reply.kind === "permission" && !isPerson(origin)) {
    throw new AsyncAgentsError("not_allowed", "Only a person may answer a permission, and not an agent.");
  }
  const task = await find();
  const place = await desk.placeOfAnswer(task, requestId);
  if ("instance" in place) return place.instance;
  // Only a person answers from the dashboard or the command line.
  const by = (isPerson(origin) ? via : undefined) ?? (origin.door === "model" ? "model" : "api");
  await place.engine.answerTask(task, reply, requestId, by, origin.token?.name);
  return null;
}
