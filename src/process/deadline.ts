/**
 * Waiting with a limit: for as long as a timeout and a signal allow. However a wait ends, it leaves no timer and no
 * listener behind; the work itself is not cancelled. Also runs on Node 20, for the Claude library.
 * Invariant: limits that are wrong, or a signal that has aborted, are found before anything is begun.
 */
import { AsyncAgentsError } from "../model/errors.ts";

/** The longest time that a timer can hold. */
const LONGEST_MS = 2 ** 31 - 1;

/** How long to wait. */
export interface WaitOptions {
  /** In milliseconds; without it, as long as it takes. */
  timeout?: number;
  /** Ends the wait, and nothing else. */
  signal?: AbortSignal;
}

/** The limits of a call, with its default timeout where none is given. Throws where they are wrong or already over. */
export function limitsOf({ timeout, signal }: WaitOptions, defaultTimeout?: number): WaitOptions {
  if (timeout !== undefined && !(timeout >= 0)) {
    const message = `timeout must be a number of milliseconds, 0 or more; it is ${timeout}.`;
    throw new AsyncAgentsError("invalid_input", message);
  }
  signal?.throwIfAborted();
  const limit = timeout ?? defaultTimeout;
  return { ...(limit !== undefined && { timeout: limit }), ...(signal && { signal }) };
}

/** Settles as `work` does, unless time runs out or the signal aborts before: then it rejects. */
export async function within<Value>(
  work: Promise<Value>,
  options: WaitOptions,
  timedOut: (timeout: number) => Error,
): Promise<Value> {
  // A failure after the limit has nobody to report to, and must not end the program.
  work.catch(() => {});
  const { timeout, signal } = limitsOf(options);
  const end = await firstOf(work, { timeout, signal });
  if (end === "timeout") throw timedOut(timeout ?? 0);
  if (end === "aborted") throw signal?.reason;
  return work;
}

/** Whether the work settles, either way, before time runs out or the signal aborts. Never rejects. */
export async function settlesWithin(work: Promise<unknown>, { timeout, signal }: WaitOptions): Promise<boolean> {
  return (await firstOf(work, { timeout, signal })) === "settled";
}

/** Resolves after that time, or at once when the signal aborts: it never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await firstOf(new Promise(() => {}), { timeout: ms, signal });
}

interface Limits {
  timeout: number | undefined;
  signal: AbortSignal | undefined;
}

/** Which comes first. Never rejects. */
function firstOf(work: Promise<unknown>, { timeout, signal }: Limits): Promise<"settled" | "timeout" | "aborted"> {
  return new Promise((resolve) => {
    const finish = (how: "settled" | "timeout" | "aborted") => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      resolve(how);
    };
    const onAbort = () => finish("aborted");
    const timer =
      timeout === undefined ? undefined : setTimeout(() => finish("timeout"), Math.min(timeout, LONGEST_MS));
    const onSettled = () => finish("settled");
    work.then(onSettled, onSettled);
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted) onAbort();
  });
}
