/**
 * Waiting with a limit: a timeout, a signal, or both. However a wait ends, it leaves no timer and no listener behind.
 * The work itself is not cancelled. Also runs on Node 20, for the Claude library.
 * Invariant: invalid limits, or a signal that has already aborted, are reported before anything starts.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { type Clock, systemClock } from "./clock.ts";

/** The longest delay that a timer supports. */
const LONGEST_MS = 2 ** 31 - 1;

/** How long to wait. */
export interface WaitOptions {
  /** In milliseconds. No limit when absent. */
  timeout?: number;
  /** Ends the wait, but not the work. */
  signal?: AbortSignal;
}

/** How long to wait, and by which clock: that of this machine when absent. */
interface TimedOptions {
  timeout?: number | undefined;
  signal?: AbortSignal | undefined;
  clock?: Pick<Clock, "after"> | undefined;
}

/** The limits of a call, with a default timeout. Throws if they are invalid or the signal has aborted. */
export function limitsOf({ timeout, signal }: WaitOptions, defaultTimeout?: number): WaitOptions {
  if (timeout !== undefined && !(timeout >= 0)) {
    const message = `timeout must be a number of milliseconds, 0 or more; it is ${timeout}.`;
    throw new AsyncAgentsError("invalid_input", message);
  }
  signal?.throwIfAborted();
  const limit = timeout ?? defaultTimeout;
  return { ...(limit !== undefined && { timeout: limit }), ...(signal && { signal }) };
}

/** Settles as `work` does. Rejects if time runs out or the signal aborts first. */
export async function within<Value>(
  work: Promise<Value>,
  options: WaitOptions & Pick<TimedOptions, "clock">,
  timedOut: (timeout: number) => Error,
): Promise<Value> {
  // A failure after the limit has no one to report to, and must not end the program.
  work.catch(() => {});
  const { timeout, signal } = limitsOf(options);
  const end = await firstOf(work, { timeout, signal, clock: options.clock });
  if (end === "timeout") throw timedOut(timeout ?? 0);
  if (end === "aborted") throw signal?.reason;
  return work;
}

/** Whether the work settles, either way, before time runs out or the signal aborts. Never rejects. */
export async function settlesWithin(work: Promise<unknown>, options: TimedOptions): Promise<boolean> {
  return (await firstOf(work, options)) === "settled";
}

/** Resolves after that time, or as soon as the signal aborts. Never rejects. */
export async function pause(ms: number, options: Omit<TimedOptions, "timeout"> = {}): Promise<void> {
  await firstOf(new Promise(() => {}), { ...options, timeout: ms });
}

/** Which comes first. Never rejects. */
function firstOf(
  work: Promise<unknown>,
  { timeout, signal, clock = systemClock }: TimedOptions,
): Promise<"settled" | "timeout" | "aborted"> {
  return new Promise((resolve) => {
    const finish = (how: "settled" | "timeout" | "aborted") => {
      cancel?.();
      signal?.removeEventListener("abort", onAbort);
      resolve(how);
    };
    const onAbort = () => finish("aborted");
    const cancel =
      timeout === undefined ? undefined : clock.after(Math.min(timeout, LONGEST_MS), () => finish("timeout"));
    const onSettled = () => finish("settled");
    work.then(onSettled, onSettled);
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted) onAbort();
  });
}
