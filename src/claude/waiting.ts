/**
 * Waiting with a limit: for as long as a timeout and a signal allow, and not a listener or a timer longer.
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

/** Settles as `promise` does, unless time runs out or the signal aborts before: then it rejects. */
export function within<Value>(
  promise: Promise<Value>,
  { timeout, signal }: WaitOptions,
  timedOut: (timeout: number) => Error,
): Promise<Value> {
  if (timeout !== undefined && !(timeout >= 0)) {
    const message = `timeout must be a number of milliseconds, 0 or more; it is ${timeout}.`;
    return Promise.reject(new AsyncAgentsError("invalid_input", message));
  }
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const onAbort = () => finish(() => reject(signal?.reason));
    const timer =
      timeout === undefined
        ? undefined
        : setTimeout(() => finish(() => reject(timedOut(timeout))), Math.min(timeout, LONGEST_MS));
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      settle();
    };
    signal?.addEventListener("abort", onAbort);
    promise.then(
      (value) => finish(() => resolve(value)),
      (thrown) => finish(() => reject(thrown)),
    );
  });
}
