/**
 * Owns an append-only list that can be waited on: model requests, OpenCode events.
 * Invariant: a wait looks at what was already recorded first, so nothing is missed between the act and the wait.
 * Every wait is bounded and its error tells what was awaited and what was seen. It never polls and never forgets.
 */
import { within } from "../process/deadline.ts";

export const defaultTimeoutMs = 40_000;

/** Rejects with the described error when the promise does not settle in time; it does not cancel the work behind it. */
export function bounded<T>(work: Promise<T>, timeoutMs: number, describe: () => string): Promise<T> {
  return within(work, { timeout: timeoutMs }, (timeout) => new Error(`Waited ${timeout} ms for ${describe()}`));
}

export interface WaitOptions {
  /** What is waited for, in the words of the error message. */
  what?: string;
  timeoutMs?: number;
  /** Only items from this position on are looked at; take `recorder.items.length` before the act to wait for what follows it. */
  from?: number;
}

export class Recorder<T> {
  readonly items: T[] = [];
  readonly #waiters = new Set<() => void>();
  readonly #summarize: (item: T) => string;
  /** Further lines for the error of a wait that ran out, such as the end of a log. */
  readonly #diagnose: () => string;

  constructor(summarize: (item: T) => string, diagnose: () => string = () => "") {
    this.#summarize = summarize;
    this.#diagnose = diagnose;
  }

  push(item: T): void {
    this.items.push(item);
    for (const check of [...this.#waiters]) check();
  }

  /** The first recorded item that the predicate accepts, whether it is there already or still to come. */
  waitFor(predicate: (item: T) => boolean, options: WaitOptions = {}): Promise<T> {
    return this.waitForCount(predicate, 1, options).then((found) => found[0] as T);
  }

  /** The first `count` recorded items that the predicate accepts. */
  waitForCount(predicate: (item: T) => boolean, count: number, options: WaitOptions = {}): Promise<T[]> {
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
