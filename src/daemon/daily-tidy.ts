/**
 * Removes worktrees of tasks that nobody needs any more, once a day while the daemon runs. What is not merged stays. A
 * failure is logged, and the next day tries again; nothing else depends on it.
 */
import { allTasks } from "../engine/watching/all-tasks.ts";
import { messageOf } from "../model/errors.ts";
import type { Clock } from "../process/clock.ts";
import type { Log } from "../process/log.ts";
import type { Store } from "../store/store.ts";
import { tidyTaskWorktrees } from "../worktree/tasks/task-worktree.ts";

/** The delay before the first time: a daemon that runs for seconds removes nothing. */
const FIRST_MS = 600_000;
const EVERY_MS = 86_400_000;

interface DailyTidyContext extends Clock {
  store: Store;
  log: Log;
  /** The folder for all worktrees. */
  worktrees: string;
  release(directory: string): Promise<void>;
}

export class DailyTidy {
  readonly #context: DailyTidyContext;
  #cancel: (() => void) | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(context: DailyTidyContext) {
    this.#context = context;
    this.#later(FIRST_MS);
  }

  /** Resolves when nothing is being removed any more. */
  async stop(): Promise<void> {
    this.#cancel?.();
    await this.#running;
  }

  #later(ms: number): void {
    const begin = () => {
      this.#later(EVERY_MS);
      this.#running = this.#running.then(() => this.#tidy());
    };
    this.#cancel = this.#context.after(ms, begin, { background: true });
  }

  async #tidy(): Promise<void> {
    const { store, log, worktrees, release, now } = this.#context;
    try {
      const live = await allTasks(store, { status: ["running", "resumed"] });
      const isInUse = (path: string) => live.some(({ directory }) => `${directory}/`.startsWith(`${path}/`));
      const onFailure = (path: string, thrown: unknown) =>
        log.error("the worktree of a task could not be removed", { path, error: messageOf(thrown) });
      const removed = await tidyTaskWorktrees({ worktrees, now: now(), isInUse, release, onFailure });
      if (removed.length > 0) log.info("worktrees of tasks were removed: all of their work is merged", { removed });
    } catch (thrown) {
      log.error("worktrees could not be tidied up; the next try is in a day", { error: messageOf(thrown) });
    }
  }
}
