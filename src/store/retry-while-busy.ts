/**
 * Retries while a database is busy: short sleeps with jitter, up to a time limit. Does not decide what counts as busy,
 * and never swallows the last error.
 */
import { pause } from "../process/deadline.ts";

interface RetryOptions {
  /** Whether to retry after this error. */
  shouldRetry: (thrown: unknown) => boolean;
  /** How long to retry, in ms. */
  limit?: number;
}

const LIMIT = 15_000;
const LONGEST_SLEEP = 250;

export async function retryWhileBusy<T>(
  attempt: () => T | Promise<T>,
  { shouldRetry, limit = LIMIT }: RetryOptions,
): Promise<T> {
  const deadline = performance.now() + limit;
  for (let wait = 2; ; wait = Math.min(wait * 2, LONGEST_SLEEP)) {
    try {
      return await attempt();
    } catch (thrown) {
      if (!shouldRetry(thrown) || performance.now() >= deadline) throw thrown;
      await pause(wait * (0.5 + Math.random()));
    }
  }
}
