/**
 * What the parts of the store suite share: stores to test, and tests of properties. See `store-conformance.ts`, which
 * combines the parts.
 */
import { test } from "bun:test";
import fc from "fast-check";
import type { Store } from "../../../store/store.ts";

export interface StoreBed {
  /** A new, empty store. */
  fresh(): Promise<Store>;
  /** A new, empty store with that many handles on it. */
  handles(count: number): Promise<Store[]>;
}

/** The timeout of a long test, in ms. */
export const LONG_TEST_TIMEOUT_MS = 60_000;

/** Tries a property that often, on the store that `prepare` opens. */
export function propertyTest<T>(title: string, tries: number, prepare: () => Promise<fc.IAsyncProperty<T>>): void {
  const run = async () => {
    // Not shrunk: the tasks of earlier tries are in the store.
    await fc.assert(await prepare(), { numRuns: tries, endOnFailure: true });
  };
  test(title, run, LONG_TEST_TIMEOUT_MS);
}
