/**
 * Virtual time: what is due is done in order, one thing at a time, and each time everything that follows from it
 * without waiting is done before the next. No real time passes. Nothing else may wait for real time: the checks of
 * `test/ground` hold for the code that runs here.
 */

/** Something that is due at a time. The order of equal times is the order of scheduling. */
interface Entry {
  at: number;
  order: number;
  work: (() => void) | null;
}

export class Timeline {
  readonly #heap: Entry[] = [];
  #order = 0;
  #now = 0;
  /** How many things were done. */
  steps = 0;

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.#now;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Does the work after that time. The returned function cancels it. */
  schedule(ms: number, work: () => void): () => void {
    const entry: Entry = { at: this.#now + Math.max(0, ms), order: this.#order++, work };
    this.#push(entry);
    return () => {
      entry.work = null;
    };
  }

  /** Does the next thing. False if there is nothing before `until`. */
  async step(until: number): Promise<boolean> {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > until) {
        this.#now = Math.max(this.#now, until);
        return false;
      }
      this.#pop();
      if (next.work === null) continue;
      this.#now = next.at;
      this.steps++;
      next.work();
      await settled();
      return true;
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(entry, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      const child = b !== undefined && a !== undefined && isBefore(b, a) ? left + 1 : left;
      const below = heap[child];
      if (below === undefined || !isBefore(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

const immediate = setImmediate;

/** Resolves when every promise that could settle has settled. */
function settled(): Promise<void> {
  return new Promise((resolve) => immediate(resolve));
}
