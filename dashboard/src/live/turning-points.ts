/**
 * Tells a task's turning points from mere updates: a task has turned when its state differs from the last known one.
 * Remembers live tasks only, so that it stays small.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { isLive } from "../wording/statuses.ts";

export class TurningPoints {
  readonly #known = new Map<string, string>();
  readonly #of: (task: BackgroundTask) => string;

  constructor(of: (task: BackgroundTask) => string) {
    this.#of = of;
  }

  begin(tasks: readonly BackgroundTask[]): void {
    this.#known.clear();
    for (const live of tasks.filter(isLive)) this.#known.set(live.id, this.#of(live));
  }

  hasTurned(task: BackgroundTask): boolean {
    const before = this.#known.get(task.id);
    if (isLive(task)) this.#known.set(task.id, this.#of(task));
    else this.#known.delete(task.id);
    return before !== this.#of(task);
  }
}
