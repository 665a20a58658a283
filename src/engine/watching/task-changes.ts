/**
 * What happened to which task, with the task as it was right after that, for live viewers. Applies `transition` to the
 * feed, so that each change shows its own state even if the row has changed since. Keeps live tasks only.
 */
import type { TaskEventType } from "../../model/events.ts";
import { isLive, type Task } from "../../model/task.ts";
import { transition } from "../../model/transition.ts";
import type { FeedEntry, Store } from "../../store/store.ts";
import { Changes, type ReadingPace, type WatchContext } from "./changes.ts";

export interface TaskChange {
  seq: number;
  type: TaskEventType;
  task: Task;
}

export interface TaskChangesListener {
  changed(changes: readonly TaskChange[]): void | Promise<void>;
  /** Some tasks that were live are gone: what is shown has to be read again. */
  missed(): void;
}

/** People are watching: a commit is read at once, and those directly after it together. */
const WATCHING: ReadingPace = { before: 0, after: 5 };

/** How many earlier entries are read at once. */
const PAGE = 500;

export class TaskChanges {
  readonly #store: Store;
  readonly #changes: Changes;
  #known = new Map<string, Task>();

  constructor(context: WatchContext, listener: TaskChangesListener) {
    this.#store = context.store;
    this.#changes = new Changes(context, WATCHING);
    this.#changes.onEntries(async (entries) => listener.changed(await this.#fold(entries)));
    this.#changes.onGap(() => {
      this.#known = new Map();
      listener.missed();
    });
  }

  start(): Promise<void> {
    return this.#changes.start();
  }

  stop(): void {
    this.#changes.stop();
    // A new map: a fold that is still running must not leave its tasks in it.
    this.#known = new Map();
  }

  async #fold(entries: readonly FeedEntry[]): Promise<TaskChange[]> {
    const known = this.#known;
    await this.#recall(known, entries);
    const changes = entries.flatMap(({ seq, taskId, event }) => {
      const { task } = transition(known.get(taskId) ?? null, event);
      if (task === null) return [];
      known.set(taskId, task);
      return [{ seq, type: event.type, task }];
    });
    for (const { taskId } of entries) if (!isLive(known.get(taskId)?.status ?? "error")) known.delete(taskId);
    return changes;
  }

  /** Computes the state of unknown tasks before these entries. Their rows may be ahead, so the feed is used. */
  async #recall(known: Map<string, Task>, entries: readonly FeedEntry[]): Promise<void> {
    const before = entries[0]?.seq ?? 0;
    const unknown = [...new Set(entries.map(({ taskId }) => taskId))].filter((id) => !known.has(id));
    for (let after = 0, read = PAGE; read === PAGE; ) {
      const earlier = await this.#store.entriesOf(unknown, { after, before }, PAGE);
      for (const { seq, taskId, event } of earlier) {
        const { task } = transition(known.get(taskId) ?? null, event);
        if (task) known.set(taskId, task);
        after = seq;
      }
      read = earlier.length;
    }
  }
}
