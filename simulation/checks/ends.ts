/** What the stored end of a run says, in the words that people read: the checks take it by that, not by the code. */
import type { Run } from "../../src/model/task.ts";

/** For how long the session is searched for a prompt whose call failed. */
export const SEARCH_MS = 60_000;

/** What its agent still does is being stopped, or stops when its process comes back or its prompt arrives. */
export function mayWorkOn(run: Run): boolean {
  const { outcome, error } = run;
  return outcome === "cancelled" || isGivenUp(run) || (error !== null && /^interrupted:|deleted/.test(error));
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
