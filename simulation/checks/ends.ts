/** What the stored end of a run says, in the words that people read: the checks take it by that, not by the code. */
import { ABORTED } from "../../src/model/evidence.ts";
import type { Run, Task } from "../../src/model/task.ts";
import type { Machine } from "../world/machine.ts";

/** For how long the session is searched for a prompt whose call failed. */
export const SEARCH_MS = 60_000;

/** What its agent still does is being stopped, or stops when its process comes back or its prompt arrives. */
export function mayWorkOn(run: Run): boolean {
  const { outcome, error } = run;
  return outcome === "cancelled" || isGivenUp(run) || (error !== null && /^interrupted:|deleted/.test(error));
}

/**
 * Its process was asked to end while it stopped the agent, and did not wait for that: the agent ends with its program.
 */
export function isStoppedInHaste({ drained, ends }: Machine, { id }: Task, run: Run): boolean {
  return isStopped(run) && drained.has(ends.writerOf(id, run.number) ?? "");
}

/**
 * A process that could not be seen stood still, came back, and stopped what it had in the session, in its own program:
 * that shows in the messages, and the process of the next run takes it for the stop of its own. It leaves the session
 * alone then: a person who stopped it may be at work there.
 */
export function isOthersStop({ areVisible, work, begins, ends }: Machine, { id, sessionId }: Task, run: Run): boolean {
  if (areVisible || run.error !== ABORTED) return false;
  const [from, until] = [begins.of(id, run.number) ?? 0, ends.of(id, run.number) ?? 0];
  return work.stopsOf(sessionId).some((at) => at >= from && at <= until);
}

/**
 * Without leases, a process that others cannot see may stand still until they have ended its run, and come back with
 * the prompt in its hand.
 */
export function isUnaware(
  { areVisible, places, ends }: Machine,
  taskId: string,
  run: number,
  sentBy: readonly string[],
) {
  return !areVisible && !places.areSeveral && !sentBy.includes(ends.writerOf(taskId, run) ?? "");
}

/** Somebody ended it: what the agent did meanwhile does not count. */
export function isStopped({ error }: Run): boolean {
  return error !== null && /deleted|stopped:/.test(error);
}

/** A program died; the work itself was fine. */
export function isInterrupted({ error }: Run): boolean {
  return error?.startsWith("interrupted:") ?? false;
}

/** Its prompt was searched for, and not found. */
export function isGivenUp({ error }: Run): boolean {
  return error !== null && /^the prompt did not arrive|^it is not known whether the prompt arrived/.test(error);
}
