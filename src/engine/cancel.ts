/**
 * Cancels tasks. A task is cancelled by the instance that drives it. For a task of another living instance, the request
 * is written to the store, and that instance acts on it. A request stands until the run has ended.
 */
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import { isLive, type Task } from "../model/task.ts";
import type { EngineContext } from "./context.ts";
import type { Driver } from "./runs/driver.ts";
import type { Waiter } from "./watching/waiter.ts";

const OTHER_MS = 5000;

export interface CancelResult {
  task: Task;
  /** Not ended yet: another process was asked to cancel it. */
  asked: boolean;
}

export class Canceller {
  readonly #context: EngineContext;
  readonly #driver: Driver;
  readonly #waiter: Waiter;
  readonly #onEnded: (task: Task) => void;

  constructor(context: EngineContext, driver: Driver, waiter: Waiter, onEnded: (task: Task) => void) {
    this.#context = context;
    this.#driver = driver;
    this.#waiter = waiter;
    this.#onEnded = onEnded;
  }

  async cancel(task: Task, reason: string): Promise<CancelResult> {
    const { store, now } = this.#context;
    if (this.#driver.drives(task)) {
      await this.#cancelOwn(task, reason);
    } else if (await this.#isDrivenElsewhere(task)) {
      const asked = await store.apply(task.id, { type: "cancel.requested", at: now(), run: task.run.number });
      if (asked.changed) await this.#waiter.untilEnded(task.id, { timeout: OTHER_MS });
    } else {
      await this.#context.host.abort(task.sessionId).catch((thrown: unknown) => {
        this.#context.log.info("the session of an orphan could not be aborted", { error: messageOf(thrown) });
      });
      const event = { type: "run.cancelled", at: now(), run: task.run.number, reason, progress: null } as const;
      const applied = await store.apply(task.id, event, { owner: task.owner });
      if (applied.changed) this.#onEnded(applied.task);
      // Another instance took the run over in the meantime: it is asked instead.
      else if (applied.reason === "other_owner" && applied.task?.run.number === task.run.number)
        return this.cancel(applied.task, reason);
    }
    const after = (await store.task(task.id)) ?? task;
    return { task: after, asked: isLive(after.status) && after.run.number === task.run.number };
  }

  /** Cancels each live task of a list. A task that cannot be stopped does not affect the others. */
  async cancelAll(tasks: readonly Task[], reason: string): Promise<CancelResult[]> {
    const live = tasks.filter((task) => isLive(task.status));
    const settled = await Promise.allSettled(live.map((task) => this.cancel(task, reason)));
    const failed = settled.filter((outcome) => outcome.status === "rejected");
    if (failed.length > 0) {
      const reasons = [...new Set(failed.map((outcome) => messageOf(outcome.reason)))].join("; ");
      throw new AsyncAgentsError(
        "host_failed",
        `${failed.length} of ${live.length} tasks could not be stopped: ${reasons}. Try again.`,
      );
    }
    return settled.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  }

  /** If it cannot be stopped now, the request stands, also for an instance that takes the task over. */
  async #cancelOwn(task: Task, reason: string): Promise<void> {
    const { store, now } = this.#context;
    try {
      await this.#driver.cancel(task, reason);
    } catch (thrown) {
      await store.apply(task.id, { type: "cancel.requested", at: now(), run: task.run.number });
      const message = `Task ${task.id} could not be stopped yet, and is tried again until it ends: ${messageOf(thrown)}`;
      throw new AsyncAgentsError("host_failed", message, { cause: thrown });
    }
  }

  async #isDrivenElsewhere(task: Task): Promise<boolean> {
    const owner = (await this.#context.store.instances()).find((known) => known.id === task.owner);
    return owner !== undefined && owner.id !== this.#context.instance.id && this.#context.isAlive(owner);
  }
}
