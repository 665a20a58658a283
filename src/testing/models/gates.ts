/**
 * Named gates at which scripted answers wait for the test. Invariant: a gate holds every arrival until it is opened,
 * and then stays open. An arrival that gives up (its client disconnected) no longer counts as waiting. Gates know
 * nothing about requests or scripts.
 */
import { settlesWithin } from "../../process/deadline.ts";
import { bounded, defaultTimeoutMs } from "../recorder.ts";

export class Gate {
  readonly name: string;
  arrivals = 0;
  waiting = 0;
  readonly #opened = Promise.withResolvers<void>();
  readonly #watchers = new Set<() => void>();
  #isOpen = false;

  constructor(name: string) {
    this.name = name;
  }

  /** Resolves when at least one request has arrived here; has a timeout. */
  get reached(): Promise<void> {
    return this.reachedBy(1);
  }

  /** Resolves when this many requests have arrived here, whether or not they still wait; has a timeout. */
  reachedBy(count: number, timeoutMs = defaultTimeoutMs): Promise<void> {
    return this.#when(() => this.arrivals >= count, `${count} request(s) at`, timeoutMs);
  }

  /**
   * Resolves when some have arrived and none is waiting: they were let through, or their clients disconnected; has a
   * timeout.
   */
  get left(): Promise<void> {
    return this.#when(() => this.arrivals > 0 && this.waiting === 0, "nobody to wait at", defaultTimeoutMs);
  }

  /** Lets all requests through, later ones included. */
  open(): void {
    this.#isOpen = true;
    this.#opened.resolve();
  }

  /** Waits for the gate to open, or for the signal; the caller checks the signal afterwards. */
  async pass(signal: AbortSignal): Promise<void> {
    this.arrivals++;
    this.waiting++;
    this.#notify();
    if (!this.#isOpen) await settlesWithin(this.#opened.promise, { signal });
    this.waiting--;
    this.#notify();
  }

  #notify(): void {
    for (const check of [...this.#watchers]) check();
  }

  #when(condition: () => boolean, what: string, timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (condition()) resolve();
    };
    this.#watchers.add(check);
    check();
    const describe = () => `${what} gate "${this.name}"; ${this.arrivals} arrived, ${this.waiting} waiting.`;
    return bounded(promise, timeoutMs, describe).finally(() => this.#watchers.delete(check));
  }
}
