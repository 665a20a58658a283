/**
 * Removes worktrees of tasks that nobody needs any more, once a day while the daemon runs. What is not merged stays. A
 * failure is logged, and the next day tries again; nothing else depends on it.
 */
import type { Runner } from "../engine/runner.ts";
import { messageOf } from "../model/errors.ts";
import type { Clock } from "../process/clock.ts";
import { settlesWithin } from "../process/deadline.ts";
import type { Log } from "../process/log.ts";
import { tidyTaskWorktrees } from "../worktree/tasks/task-worktree.ts";

/** The delay before the first time: a daemon that runs for seconds removes nothing. */
const FIRST_MS = 600_000;
const EVERY_MS = 86_400_000;
/** How long a stop waits for the worktree that is just being removed. The next time goes on with it. */
const STOP_MS = 5_000;

interface DailyTidyContext extends Clock {
  log: Log;
  /** The folder for all worktrees. */
  worktrees: string;
  folders: Pick<Runner, "removing">;
}

export class DailyTidy {
  readonly #context: DailyTidyContext;
  #cancel: (() => void) | null = null;
  #running: Promise<void> = Promise.resolve();
  readonly #ending = new AbortController();

  constructor(context: DailyTidyContext) {
    this.#context = context;
    this.#later(FIRST_MS);
  }

  /** Ends after the worktree that it is at. */
  async stop(): Promise<void> {
    this.#cancel?.();
    this.#ending.abort();
    await settlesWithin(this.#running, { timeout: STOP_MS, clock: this.#context });
  }

  #later(ms: number): void {
    const begin = () => {
      this.#later(EVERY_MS);
      this.#running = this.#running.then(() => this.#tidy());
    };
    this.#cancel = this.#context.after(ms, begin, { background: true });
  }

  async #tidy(): Promise<void> {
    const { log, worktrees, folders, now } = this.#context;
    const { signal } = this.#ending;
    try {
      const onFailure = (path: string, thrown: unknown) =>
        log.error("the worktree of a task could not be removed", { path, error: messageOf(thrown) });
      const removed = await tidyTaskWorktrees({
        worktrees,
        now: now(),
        removing: (path, work) => folders.removing(path, { force: false }, work),
        onFailure,
        signal,
      });
      if (removed.length > 0) log.info("worktrees of tasks were removed: all of their work is merged", { removed });
    } catch (thrown) {
      log.error("worktrees could not be tidied up; the next try is in a day", { error: messageOf(thrown) });
    }
  }
}
