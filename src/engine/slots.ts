/**
 * How many runs may be at work at once in a process. Who comes when all places are taken waits in line, first come, first
 * served. Knows nothing of runs: a place is taken, and given back once.
 */

export interface Place {
  /** Still in line. */
  readonly waits: boolean;
  /** Gives the place back, or leaves the line. */
  leave(): void;
}

export class Slots {
  readonly #limit: number;
  readonly #line = new Set<() => void>();
  #taken = 0;

  constructor(limit: number | null) {
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
  }

  /** Calls `begin` when there is a place: now, or later. */
  take(begin: () => void): Place {
    return this.#place(begin, this.#taken < this.#limit);
  }

  /** A place for what cannot wait, whatever the limit says. */
  occupy(begin: () => void = () => {}): Place {
    return this.#place(begin, true);
  }

  #place(begin: () => void, isFree: boolean): Place {
    let state: "waits" | "in" | "gone" = "waits";
    const enter = () => {
      state = "in";
      this.#taken++;
      begin();
    };
    const leave = () => {
      if (state === "in") this.#taken--;
      this.#line.delete(enter);
      state = "gone";
      this.#admit();
    };
    if (isFree) enter();
    else this.#line.add(enter);
    return {
      leave,
      get waits() {
        return state === "waits";
      },
    };
  }

  #admit(): void {
    for (const enter of this.#line) {
      if (this.#taken >= this.#limit) return;
      this.#line.delete(enter);
      enter();
    }
  }
}
