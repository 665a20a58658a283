/**
 * The known rows of the list, by position: pages as the server numbered them at one moment, plus the tasks added on
 * top since. So a new task moves every row down without refetching a page. Each task is in one place only. Fetches
 * nothing.
 */
import type { TaskRowData } from "./task-row-data.ts";

export const PAGE_SIZE = 200;
const IN_HEAD = -1;

type Page = (TaskRowData | undefined)[];

export class SparseRows {
  /** Newest first. */
  #head: TaskRowData[] = [];
  #pages = new Map<number, Page>();
  readonly #pageOfId = new Map<string, number>();
  #baseTotal: number | null = null;

  get total(): number | null {
    return this.#baseTotal === null ? null : this.#head.length + this.#baseTotal;
  }

  get headLength(): number {
    return this.#head.length;
  }

  get pageNumbers(): number[] {
    return [...this.#pages.keys()];
  }

  hasPage(number: number): boolean {
    return this.#pages.has(number);
  }

  pageAt(index: number): number {
    return Math.floor(Math.max(0, index - this.#head.length) / PAGE_SIZE);
  }

  row(index: number): TaskRowData | undefined {
    const below = index - this.#head.length;
    if (below < 0) return this.#head[index];
    return this.#pages.get(Math.floor(below / PAGE_SIZE))?.[below % PAGE_SIZE];
  }

  /** -1 if the task is not among the known rows. */
  indexOf(id: string): number {
    const number = this.#pageOfId.get(id);
    if (number === undefined) return -1;
    const isIt = (row: TaskRowData | undefined) => row?.id === id;
    if (number === IN_HEAD) return this.#head.findIndex(isIt);
    const within = this.#pages.get(number)?.findIndex(isIt) ?? -1;
    return within === -1 ? -1 : this.#head.length + number * PAGE_SIZE + within;
  }

  find(id: string): TaskRowData | undefined {
    const index = this.indexOf(id);
    return index === -1 ? undefined : this.row(index);
  }

  insert(row: TaskRowData): void {
    this.#head = [row, ...this.#head];
    this.#pageOfId.set(row.id, IN_HEAD);
  }

  replace(row: TaskRowData): void {
    const index = this.indexOf(row.id);
    if (index === -1) return;
    const below = index - this.#head.length;
    if (below < 0) {
      this.#head = this.#head.with(index, row);
    } else {
      const number = Math.floor(below / PAGE_SIZE);
      this.#pages.set(number, (this.#pages.get(number) ?? []).with(below % PAGE_SIZE, row));
    }
  }

  setTotal(total: number): void {
    this.#baseTotal = Math.max(0, total - this.#head.length);
  }

  /** Returns the pages that listed one of these rows until now: they are out of date. */
  putPage(number: number, rows: readonly TaskRowData[]): Set<number> {
    this.dropPage(number);
    const robbed = new Set<number>();
    for (const row of rows) {
      const other = this.#pageOfId.get(row.id);
      if (other !== undefined && other !== IN_HEAD) {
        const page = this.#pages.get(other) ?? [];
        this.#pages.set(
          other,
          page.map((known) => (known?.id === row.id ? undefined : known)),
        );
        robbed.add(other);
      }
      if (other !== IN_HEAD) this.#pageOfId.set(row.id, number);
    }
    this.#pages.set(number, [...rows]);
    return robbed;
  }

  dropPage(number: number): void {
    for (const row of this.#pages.get(number) ?? []) {
      if (row && this.#pageOfId.get(row.id) === number) this.#pageOfId.delete(row.id);
    }
    this.#pages.delete(number);
  }

  /** Renumbers the pages from the list as it is shown now, with nothing on top. */
  rebase(total: number): void {
    const pages = new Map<number, Page>();
    const put = (index: number, row: TaskRowData | undefined) => {
      const number = Math.floor(index / PAGE_SIZE);
      if (!row || index >= total) return;
      if (!pages.has(number))
        pages.set(number, new Array(Math.min(PAGE_SIZE, total - number * PAGE_SIZE)).fill(undefined));
      pages.get(number)?.splice(index % PAGE_SIZE, 1, row);
    };
    this.#head.forEach((row, index) => {
      put(index, row);
    });
    for (const [number, page] of this.#pages) {
      page.forEach((row, within) => {
        put(this.#head.length + number * PAGE_SIZE + within, row);
      });
    }
    this.#head = [];
    this.#baseTotal = total;
    this.#pages = new Map();
    this.#pageOfId.clear();
    for (const [number, page] of pages) this.#adopt(number, page);
  }

  /** All known rows, newest first. */
  seed(rows: readonly TaskRowData[]): void {
    this.#head = [];
    this.#pages = new Map();
    this.#pageOfId.clear();
    this.#baseTotal = rows.length;
    for (let start = 0; start < rows.length; start += PAGE_SIZE) {
      this.#adopt(start / PAGE_SIZE, rows.slice(start, start + PAGE_SIZE));
    }
  }

  #adopt(number: number, page: Page): void {
    this.#pages.set(number, page);
    for (const row of page) if (row) this.#pageOfId.set(row.id, number);
  }
}
