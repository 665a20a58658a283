/** What tests of host calls share: a record of the calls, and a call that nobody answers. */
import { AsyncAgentsError } from "../../../src/model/errors.ts";

export const noAnswer = () => new AsyncAgentsError("host_failed", "no answer within 30 s");

/** Calls in their order, and a way to wait until there are so many. */
export function recorder() {
  const calls: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  return {
    calls,
    add(call: string): void {
      calls.push(call);
      for (const { count, resolve } of waiting) if (calls.length >= count) resolve();
    },
    reached(count: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (calls.length >= count) resolve();
      else waiting.push({ count, resolve });
      return promise;
    },
  };
}
