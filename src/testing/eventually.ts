/**
 * Waits in tests for something that a store will show, by its changes and never by time.
 */
import type { Store } from "../store/store.ts";

/** Resolves with the first value that is not null, checked now and after each change, one check at a time. */
export function eventually<T>(store: Store, look: () => Promise<T | null>): Promise<T> {
  return new Promise((resolve, reject) => {
    let looking: Promise<unknown> = Promise.resolve();
    const check = async () => {
      const value = await look();
      if (value === null) return;
      stop();
      resolve(value);
    };
    const stop = store.onChange(() => {
      looking = looking.then(check).catch(reject);
    });
    looking = check().catch(reject);
  });
}
