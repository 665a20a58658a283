/**
 * Cancels tasks. A task is cancelled by the instance that drives it. For any other, the request is written to the
 * store: another living instance acts on it, and a task whose process is dead is recovered, here and now. A request
 * stands until the run has ended.
 */
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import { awaitsRunner, isLive, type Task } from "../model/task.ts";
import { isSameMachine } from "../process/machine.ts";
import type { EngineContext } from "./context.ts";
import { cancelQueued } from "./queue/cancel-queued.ts";
import { endDead } from "./recovery/orphans.ts";
import type { Recovery } from "./recovery/recovery.ts";
import type { Driver } from "./runs/driver.ts";
import type { Waiter } from "./watching/waiter.ts";

const OTHER_MS = 5000;

export interface CancelResult {
  task: Task;
  /** Not ended yet: another process was asked to cancel it. */
  asked: boolean;
}

/** Rejects a task that has ended. */
export function assertCancellable({ id, status }: Task): void {
  if (isLive(status)) return;
  throw new AsyncAgentsError("task_not_live", `Task ${id} has already ended (${status}); nothing to cancel.`);
}

export class Canceller {
  readonly #context: EngineContext;
  readonly #driver: Driver;
  readonly #waiter: Waiter;
  readonly #recovery: Recovery;

  constructor(context: EngineContext, driver: Driver, waiter: Waiter, recovery: Recovery) {
    this.#context = context;
    this.#driver = driver;
    this.#waiter = waiter;
    this.#recovery = recovery;
  }

  async cancel(task: Task, reason: string): Promise<CancelResult> {
    const { store } = this.#context;
    if (awaitsRunner(task)) {
      const cancelled = await cancelQueued(this.#context, task, reason);
      if (cancelled) return { task: cancelled, asked: false };
    }
    // A run that is stored and not driven yet is no orphan.
    await this.#driver.settled(task.id);
    if (this.#driver.drives(task)) {
      await this.#cancelOwn(task, reason);
    } else {
      const isOrphan = !(await this.#isDrivenElsewhere(task));
      const asked = await this.#request(task);
      // One that another instance took over in the meantime is stopped there.
      const isLeft = asked.changed && isLive(asked.task.status) && asked.task.owner === task.owner;
      if (isLeft && isOrphan) await this.#recover(asked.task);
      const isOver = ({ status, run }: Task) => !isLive(status) || run.number !== task.run.number;
      if (asked.changed) await this.#waiter.until(task.id, isOver, { timeout: OTHER_MS });
    }
    const after = (await store.task(task.id)) ?? task;
    const isAsked = isLive(after.status) && after.run.number === task.run.number;
    // Its end could not be stored yet: the request must not be lost with this process.
    if (isAsked && after.cancelRequestedAt === null) await this.#request(task);
    return { task: after, asked: isAsked };
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
    try {
      await this.#driver.cancel(task, reason);
    } catch (thrown) {
      await this.#request(task);
      const message = `Task ${task.id} could not be stopped yet, and is tried again until it ends: ${messageOf(thrown)}`;
      throw new AsyncAgentsError("host_failed", message, { cause: thrown });
    }
  }

  #request({ id, run }: Task) {
    const { store, now } = this.#context;
    return store.apply(id, { type: "cancel.requested", at: now(), run: run.number });
  }

  /** Ends an orphan as its session shows, or takes it over, which stops it. */
  async #recover(orphan: Task): Promise<void> {
    const { instance } = this.#context;
    try {
      // The session of one on another machine is out of reach: the supervisor ends it without asking a host.
      if (isSameMachine(orphan.machine, instance.machine) && (await this.#recovery.recoverTasks([orphan]))) return;
    } catch (thrown) {
      this.#context.log.error("an orphan could not be cancelled; it is tried again", { error: messageOf(thrown) });
    }
    this.#context.supervisor.recoverLater();
  }

  /** An owner that is found dead is ended, so that the run can be. */
  async #isDrivenElsewhere(task: Task): Promise<boolean> {
    const { store, instance, supervisor } = this.#context;
    const owner = (await store.instances()).find((known) => known.id === task.owner);
    if (owner === undefined || owner.id === instance.id) return false;
    return supervisor.lives(owner) || !(await endDead(store, owner));
  }
}
