/**
 * Waits until a task reaches a certain state. Woken by the feed, so that changes by any process count; reads the task
 * only when something happened to it. However a wait ends, it leaves no listener behind.
 */
import type { Task } from "../../model/task.ts";
import type { Clock } from "../../process/clock.ts";
import type { WaitOptions } from "../../process/deadline.ts";
import type { Store } from "../../store/store.ts";
import type { Changes } from "./changes.ts";

type WaitResult = { reason: "reached" | "timeout" | "aborted"; task: Task | null };

interface WaiterContext extends Pick<Clock, "after"> {
  store: Store;
}

export class Waiter {
  readonly #context: WaiterContext;
  readonly #changes: Changes;

  constructor(context: WaiterContext, changes: Changes) {
    this.#context = context;
    this.#changes = changes;
  }

  /** Resolves at the first state for which `reached` is true. An unknown task counts as reached. */
  until(taskId: string, reached: (task: Task) => boolean, options: WaitOptions): Promise<WaitResult> {
    const { store, after } = this.#context;
    return new Promise((resolve, reject) => {
      let done = false;
      const close = () => {
        done = true;
        stop();
        stopGaps();
        cancel?.();
        options.signal?.removeEventListener("abort", abort);
      };
      const finish = (reason: WaitResult["reason"], task: Task | null) => {
        if (done) return;
        close();
        resolve({ reason, task });
      };
      const fail = (thrown: unknown) => {
        if (done) return;
        close();
        reject(thrown);
      };
      const give = (reason: "timeout" | "aborted") => {
        store.task(taskId).then((task) => finish(reason, task), fail);
      };
      const look = () => {
        store.task(taskId).then((task) => {
          if (!task || reached(task)) finish("reached", task);
        }, fail);
      };
      const abort = () => give("aborted");
      const stop = this.#changes.onEntries((entries) => {
        if (entries.some((entry) => entry.taskId === taskId)) look();
      });
      const stopGaps = this.#changes.onGap(look);
      const cancel = options.timeout === undefined ? undefined : after(options.timeout, () => give("timeout"));
      options.signal?.addEventListener("abort", abort, { once: true });
      if (options.signal?.aborted) abort();
      look();
    });
  }
}
