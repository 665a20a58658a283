/**
 * The start of an event stream: the tasks and the statistics at one position of the feed. All tasks if they fit,
 * otherwise the live and the newest ones. Made once per state of the store, however many clients connect.
 */

import type { Overview } from "../../engine/watching/overview.ts";
import type { Task } from "../../model/task.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import { READ_CHARS, TEXT_CHARS, wireSnapshot, wireTask } from "../wire.ts";

const BUDGET_BYTES = 300 * 1024;
const PAGE = 200;
const MAX_LIVE = 1000;
/** How often a changing store is read again. After that, what changed meanwhile is sent again as an event. */
const TRIES = 5;

interface StoreState {
  seq: number;
  /** How many tasks were ever pruned. */
  pruned: number;
}

interface SnapshotBytes extends StoreState {
  json: string;
}

export class Snapshots {
  readonly #overview: Overview;
  #making: Promise<SnapshotBytes> | null = null;
  #made: SnapshotBytes | null = null;

  constructor(overview: Overview) {
    this.#overview = overview;
  }

  /** A snapshot as of now or later. */
  async read(): Promise<SnapshotBytes> {
    const { seq, pruned } = await this.#state();
    if (this.#made?.seq === seq && this.#made.pruned === pruned) return this.#made;
    this.#making ??= this.#make().finally(() => {
      this.#making = null;
    });
    const made = await this.#making;
    // A snapshot that was already being made may be older than what we asked for.
    return made.seq >= seq && made.pruned >= pruned ? made : this.read();
  }

  async #make(): Promise<SnapshotBytes> {
    for (let attempt = 1; ; attempt++) {
      const state = await this.#state();
      const json = JSON.stringify(await this.#collect());
      if (attempt < TRIES && (await this.#overview.lastSeq()) !== state.seq) continue;
      this.#made = { ...state, json };
      return this.#made;
    }
  }

  async #state(): Promise<StoreState> {
    const [seq, pruned] = await Promise.all([this.#overview.lastSeq(), this.#overview.prunedTasks()]);
    return { seq, pruned };
  }

  async #collect() {
    const chosen = new Map<string, BackgroundTask>();
    let bytes = 0;
    const include = (task: Task) => {
      if (chosen.has(task.id)) return;
      const wire = wireTask(task, TEXT_CHARS);
      chosen.set(task.id, wire);
      bytes += Buffer.byteLength(JSON.stringify(wire));
    };
    const live = { status: ["running", "resumed"] as const, limit: PAGE, textChars: READ_CHARS };
    for (let read = PAGE; read === PAGE && chosen.size < MAX_LIVE; ) {
      const page = await this.#overview.tasks({ ...live, offset: chosen.size });
      page.tasks.forEach(include);
      read = page.tasks.length;
    }
    let total = 0;
    for (let offset = 0, read = PAGE; read === PAGE && bytes < BUDGET_BYTES; offset += PAGE) {
      const page = await this.#overview.tasks({ limit: PAGE, offset, textChars: READ_CHARS });
      for (const task of page.tasks) if (bytes < BUDGET_BYTES) include(task);
      total = page.total;
      read = page.tasks.length;
    }
    if (total === 0) total = await this.#overview.taskCount();
    const newestFirst = [...chosen.values()].sort((one, other) => other.startedAt.localeCompare(one.startedAt));
    return wireSnapshot(newestFirst, total, await this.#overview.figures());
  }
}
