/**
 * What happened to which task, with the task as it was right after: for those who watch live. Folds the feed with
 * `transition`, so that each change shows its own state even when the row has moved on. Keeps live tasks only.
 */
import type { TaskEventType } from "../model/events.ts";
import { isLive, type Task } from "../model/task.ts";
import { transition } from "../model/transition.ts";
import type { FeedEntry, Store } from "../store/store.ts";
import { Changes } from "./changes.ts";
import type { Log } from "./context.ts";

export interface TaskChange {
  seq: number;
  type: TaskEventType;
  task: Task;
}

/** People watch: what was committed is read almost at once, and merged with what follows directly. */
const WATCHING_PAUSE_MS = 5;

export class TaskChanges {
  readonly #store: Store;
  readonly #changes: Changes;
  readonly #known = new Map<string, Task>();

  constructor(store: Store, log: Log, listener: (changes: readonly TaskChange[]) => void) {
    this.#store = store;
    this.#changes = new Changes(store, log, WATCHING_PAUSE_MS);
    this.#changes.onEntries(async (entries) => listener(await this.#fold(entries)));
  }

  start(): Promise<void> {
    return this.#changes.start();
  }

  stop(): void {
    this.#changes.stop();
    this.#known.clear();
  }

  async #fold(entries: readonly FeedEntry[]): Promise<TaskChange[]> {
    const missing = new Set(entries.filter((entry) => !makes(entry)).map((entry) => entry.taskId));
    for (const id of this.#known.keys()) missing.delete(id);
    for (const task of missing.size === 0 ? [] : await this.#store.tasksById([...missing])) {
      this.#known.set(task.id, task);
    }
    const changes = entries.flatMap(({ seq, taskId, event }) => {
      const before = event.type === "task.created" || event.type === "task.imported" ? null : this.#known.get(taskId);
      // A row that was read just now may hold this event already: then it is shown as it is.
      const { task } = transition(before ?? null, event);
      if (task === null) return [];
      this.#known.set(taskId, task);
      return [{ seq, type: event.type, task }];
    });
    for (const { task } of changes)
      if (!isLive(this.#known.get(task.id)?.status ?? "error")) this.#known.delete(task.id);
    return changes;
  }
}

function makes({ event }: FeedEntry): boolean {
  return event.type === "task.created" || event.type === "task.imported";
}
