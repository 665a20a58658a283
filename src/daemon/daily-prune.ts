/**
 * Prunes the store once a day while the daemon runs, if a limit is set, and gives up notices that programs do not come
 * back for. A failure is logged, and the next day tries again; nothing else depends on it.
 */
import { pruneTasks, type RetentionLimits } from "../engine/retention.ts";
import { messageOf } from "../model/errors.ts";
import type { Clock } from "../process/clock.ts";
import type { Log } from "../process/log.ts";
import type { Store } from "../store/store.ts";

/** The delay before the first time: a daemon that runs for seconds prunes nothing. After the daily backup. */
const FIRST_MS = 1_200_000;
const EVERY_MS = 86_400_000;

interface DailyPruneContext extends Clock {
  store: Store;
  log: Log;
}

/** A program that launched something and has not asked for its end in this time does not come back for it. */
const CLIENT_MS = 30 * EVERY_MS;
const NOT_ASKED = "no program asked for it in 30 days";

export class DailyPrune {
  readonly #context: DailyPruneContext;
  readonly #limits: RetentionLimits;
  readonly #stopping = new AbortController();
  #cancel: (() => void) | null = null;
  #running: Promise<void> = Promise.resolve();

  /** Without a limit, no task is removed. */
  constructor(context: DailyPruneContext, limits: RetentionLimits) {
    this.#context = context;
    this.#limits = limits;
    this.#later(FIRST_MS);
  }

  /** Resolves when nothing is being pruned any more. */
  async stop(): Promise<void> {
    this.#cancel?.();
    this.#stopping.abort();
    await this.#running;
  }

  #later(ms: number): void {
    const begin = () => {
      this.#later(EVERY_MS);
      this.#running = this.#running.then(() => this.#prune());
    };
    this.#cancel = this.#context.after(ms, begin, { background: true });
  }

  async #prune(): Promise<void> {
    const { log, store, now } = this.#context;
    const { signal } = this.#stopping;
    const { olderThanMs, keep } = this.#limits;
    try {
      await store.followers.dropOld(now() - CLIENT_MS, { reason: NOT_ASKED, at: now() });
      if (olderThanMs === undefined && keep === undefined) return;
      const { removed, kept } = await pruneTasks({ ...this.#context, signal }, this.#limits);
      if (removed.tasks !== 0) log.info("the store was pruned", { removed, kept });
    } catch (thrown) {
      log.error("the store could not be pruned; the next try is in a day", { error: messageOf(thrown) });
    }
  }
}
