/**
 * The list under one set of filters, however long: fetches the pages in view, keeps the nearest few, and follows the
 * stream. Without filters, newest first, a new task is added on top and nothing is fetched; otherwise the visible pages
 * are refetched at a limited rate, because only the server knows what matches, and where.
 */
import type { Client } from "../../../src/client/client.ts";
import type { TaskSnapshot } from "../../../src/protocol/events.ts";
import type { TaskEventName } from "../../../src/protocol/task-event-names.ts";
import type { BackgroundTask, TaskList } from "../../../src/protocol/tasks.ts";
import type { FeedListener } from "../live/live-feed.ts";
import { pacer } from "../live/pacer.ts";
import { type Filters, filterQuery, isWholeList } from "../routing/filters.ts";
import { PAGE_SIZE, SparseRows } from "./sparse-rows.ts";
import { passes, rowDataOf, type TaskRowData } from "./task-row-data.ts";

const KEPT_PAGES = 30;
const HEAD_LIMIT = 1000;
const NOTIFY_MS = 30;
const SETTLE_MS = 60;
const PACE_MS = 1000;
const DRIFT_TRIES = 4;
const DRIFT_WAIT_MS = 250;

export class TaskPages implements FeedListener {
  readonly filters: Filters;
  readonly #client: Pick<Client, "tasks">;
  readonly #isAnchored: boolean;
  readonly #rows = new SparseRows();
  readonly #stale = new Set<number>();
  readonly #loading = new Map<number, AbortController>();
  readonly #listeners = new Set<() => void>();
  readonly #refresh = pacer(PACE_MS, () => this.#reloadVisible());
  #visible = { first: 0, last: 0 };
  #version = 0;
  #inserted = 0;
  #failure: unknown = null;
  #notifyTimer: ReturnType<typeof setTimeout> | undefined;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(filters: Filters, client: Pick<Client, "tasks">) {
    this.filters = filters;
    this.#client = client;
    this.#isAnchored = isWholeList(filters);
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = () => this.#version;

  /** The number of matches; null before the first answer. */
  get total(): number | null {
    return this.#rows.total;
  }

  get failure(): unknown {
    return this.#failure;
  }

  /** How many tasks were added on top so far: a scrolled view uses it to keep its position. */
  get inserted(): number {
    return this.#inserted;
  }

  row(index: number): TaskRowData | undefined {
    return this.#rows.row(index);
  }

  indexOf(id: string): number {
    return this.#rows.indexOf(id);
  }

  /**
   * Reports which rows are visible. Waits for scrolling to settle, so that a long drag does not fetch everything it
   * passes.
   */
  show(first: number, last: number): void {
    this.#visible = { first, last };
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => void this.#loadVisible(), this.total === null ? 0 : SETTLE_MS);
  }

  retry(): void {
    this.#failure = null;
    this.#notify();
    void this.#loadVisible();
  }

  /** Refetches what is visible, for a list that did not follow the stream for a while. */
  refresh(): void {
    this.#refresh();
  }

  onSnapshot(snapshot: TaskSnapshot): void {
    this.#failure = null;
    if (!this.#isAnchored) {
      this.#refresh();
    } else if (snapshot.truncated) {
      this.#startAgain(snapshot.total);
    } else {
      this.#abortLoads();
      this.#stale.clear();
      this.#rows.seed(snapshot.tasks.map(rowDataOf));
      this.#notify();
    }
  }

  onChange(type: TaskEventName, task: BackgroundTask): void {
    const row = rowDataOf(task);
    const known = this.#rows.find(row.id);
    if (known) this.#rows.replace(row);
    if (!this.#isAnchored) {
      const wasIn = known !== undefined;
      // What it took and cost is known when it has ended.
      const isMoved = wasIn && this.filters.sort !== "started" && known.status !== row.status;
      if (isMoved || wasIn !== passes(this.filters, row, Date.now())) this.#refresh();
    } else if (!known && type === "task.created" && this.total !== null) {
      this.#putOnTop(row);
    }
    this.#notify();
  }

  #putOnTop(row: TaskRowData): void {
    this.#rows.insert(row);
    this.#inserted++;
    if (this.#rows.headLength > HEAD_LIMIT) this.#startAgain(this.total ?? 0);
  }

  #startAgain(total: number): void {
    this.#abortLoads();
    this.#rows.rebase(total);
    for (const number of this.#rows.pageNumbers) this.#stale.add(number);
    this.#notify();
    void this.#loadVisible();
  }

  #reloadVisible(): Promise<unknown> {
    for (const number of this.#rows.pageNumbers) this.#stale.add(number);
    return this.#loadVisible();
  }

  #loadVisible(): Promise<unknown> {
    if (this.#failure !== null) return Promise.resolve();
    const { first, last } = this.#visible;
    const wanted = new Set<number>();
    const newest = this.#rows.pageAt(Math.min(last, Math.max(0, (this.total ?? 1) - 1)));
    for (let number = this.#rows.pageAt(first); number <= newest; number++) wanted.add(number);
    for (const [number, load] of this.#loading) if (!wanted.has(number)) load.abort();
    const missing = [...wanted].filter((number) => !this.#rows.hasPage(number) || this.#stale.has(number));
    return Promise.all(missing.filter((number) => !this.#loading.has(number)).map((number) => this.#load(number)));
  }

  async #load(number: number): Promise<void> {
    const load = new AbortController();
    this.#loading.set(number, load);
    try {
      const answer = await this.#fetch(number, load.signal);
      if (!load.signal.aborted) this.#store(number, answer);
    } catch (failure) {
      if (!load.signal.aborted) this.#failure = failure;
    } finally {
      if (this.#loading.get(number) === load) this.#loading.delete(number);
    }
    this.#notify();
  }

  /**
   * Asks again while the server has counted tasks that the stream has not reported yet: its positions would be off by
   * them.
   */
  async #fetch(number: number, signal: AbortSignal): Promise<TaskList> {
    for (let tries = 1; ; tries++) {
      const expected = this.total;
      const offset = number * PAGE_SIZE + this.#rows.headLength;
      const query = { limit: PAGE_SIZE, offset, ...filterQuery(this.filters, Date.now()) };
      const answer = await this.#client.tasks(query, signal);
      if (!this.#isAnchored || expected === null || answer.total === expected || tries === DRIFT_TRIES) return answer;
      await new Promise((resolve) => setTimeout(resolve, DRIFT_WAIT_MS));
      signal.throwIfAborted();
    }
  }

  #store(number: number, answer: TaskList): void {
    this.#stale.delete(number);
    const isDrifted = this.#isAnchored && this.total !== null && this.#driftOf(number, answer);
    if (isDrifted) this.#rows.rebase(answer.total);
    else if (!this.#isAnchored || this.total === null) this.#rows.setTotal(answer.total);
    for (const robbed of this.#rows.putPage(number, answer.tasks.map(rowDataOf))) this.#stale.add(robbed);
    if (isDrifted) for (const other of this.#rows.pageNumbers) if (other !== number) this.#stale.add(other);
    this.#dropFarPages();
  }

  /** True if the server's list and ours no longer have the same length, even after waiting for the stream. */
  #driftOf(number: number, answer: TaskList): boolean {
    const headThen = answer.offset - number * PAGE_SIZE;
    return answer.total !== (this.total ?? 0) - this.#rows.headLength + headThen;
  }

  #dropFarPages(): void {
    const middle = this.#rows.pageAt((this.#visible.first + this.#visible.last) / 2);
    const far = this.#rows.pageNumbers.sort((one, other) => Math.abs(one - middle) - Math.abs(other - middle));
    for (const number of far.slice(KEPT_PAGES)) {
      this.#rows.dropPage(number);
      this.#stale.delete(number);
    }
  }

  #abortLoads(): void {
    for (const load of this.#loading.values()) load.abort();
    this.#loading.clear();
  }

  /** A burst of changes is rendered once. */
  #notify(): void {
    this.#notifyTimer ??= setTimeout(() => {
      this.#notifyTimer = undefined;
      this.#version++;
      for (const listener of this.#listeners) listener();
    }, NOTIFY_MS);
  }
}
