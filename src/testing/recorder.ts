/**
 * An append-only list with waits, for model requests and OpenCode events. Invariant: a wait first checks what was
 * already recorded, so nothing is missed between an action and the wait. Every wait has a timeout, and its error names
 * what was expected and what was seen. Never polls and never forgets.
 */
import { within } from "../process/deadline.ts";

export const defaultTimeoutMs = 40_000;

/** Rejects with the described error if the promise does not settle in time; does not cancel the work behind it. */
export function bounded<T>(work: Promise<T>, timeoutMs: number, describe: () => string): Promise<T> {
  return within(work, { timeout: timeoutMs }, (timeout) => new Error(`Waited ${timeout} ms for ${describe()}`));
}

interface RecorderWaitOptions {
  /** What is expected, for the error message. */
  what?: string;
  timeoutMs?: number;
  /**
   * Checks only items from this position on: save `recorder.items.length` before an action to wait for what follows it.
   */
  from?: number;
}

export class Recorder<T> {
  readonly items: T[] = [];
  readonly #waiters = new Set<() => void>();
  readonly #summarize: (item: T) => string;
  /** Extra lines for the error of a timeout, such as the end of a log. */
  readonly #diagnose: () => string;

  constructor(summarize: (item: T) => string, diagnose: () => string = () => "") {
    this.#summarize = summarize;
    this.#diagnose = diagnose;
  }

  push(item: T): void {
    this.items.push(item);
    for (const check of [...this.#waiters]) check();
  }

  /** The first item that the predicate accepts, past or future. */
  waitFor(predicate: (item: T) => boolean, options: RecorderWaitOptions = {}): Promise<T> {
    return this.waitForCount(predicate, 1, options).then((found) => found[0] as T);
  }

  /** The first `count` items that the predicate accepts. */
  waitForCount(predicate: (item: T) => boolean, count: number, options: RecorderWaitOptions = {}): Promise<T[]> {
    const { timeoutMs = defaultTimeoutMs, what = "a matching item", from = 0 } = options;
    const found: T[] = [];
    let next = from;
    const { promise, resolve, reject } = Promise.withResolvers<T[]>();
    const check = () => {
      try {
        while (found.length < count && next < this.items.length) {
          const item = this.items[next++] as T;
          if (predicate(item)) found.push(item);
        }
      } catch (error) {
        reject(error);
      }
      if (found.length >= count) resolve(found);
    };
    this.#waiters.add(check);
    check();
    const describe = () => `${what}: ${found.length} of ${count} came. ${this.#seen(from)}`;
    return bounded(promise, timeoutMs, describe).finally(() => this.#waiters.delete(check));
  }

  #seen(from: number): string {
    const seen = this.items.slice(from);
    const tail = seen.slice(-20).map((item) => `  ${this.#summarize(item)}`);
    const head = `Seen instead: ${seen.length} item(s)${seen.length > 20 ? ", the last 20 of them" : ""}`;
    return [`${head}${tail.length > 0 ? ":" : "."}`, ...tail, this.#diagnose()]
      .filter((line) => line !== "")
      .join("\n");
  }
}
