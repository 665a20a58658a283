/**
 * Waiting with a limit: for as long as a timeout and a signal allow, and not a listener or a timer longer.
 * Invariant: limits that are wrong, or a signal that has aborted, are found before anything is begun.
 */
import { AsyncAgentsError } from "../../model/errors.ts";

/** The longest time that a timer can hold. */
const LONGEST_MS = 2 ** 31 - 1;

/** How long to wait. */
export interface WaitOptions {
  /** In milliseconds. */
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

/** Settles as `promise` does, unless time runs out or the signal aborts before: then it rejects. */
export async function within<Value>(
  promise: Promise<Value>,
  options: WaitOptions,
  timedOut: (timeout: number) => Error,
): Promise<Value> {
  // Whatever becomes of it after the limits are over is nobody's concern, and must not end the program.
  promise.catch(() => {});
  const { timeout, signal } = limitsOf(options);
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

/** Waits for the work, but no longer than that; false where it took longer. Whether the work succeeds does not matter. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.min(ms, LONGEST_MS));
  });
  const done = work.then(
    () => true,
    () => true,
  );
  const isDone = await Promise.race([done, limit]);
  clearTimeout(timer);
  return isDone;
}

/** Resolves after that time, or at once when the signal aborts: it never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}
