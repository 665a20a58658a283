/**
 * Limits how many runs are at work at once in a process. When all slots are taken, others wait in line, first come,
 * first served; the line has a maximum length. Knows nothing about runs: a place is taken, and given back once.
 */
import { AsyncAgentsError } from "../../model/errors.ts";

export interface Place {
  /** Still in line. */
  readonly waits: boolean;
  /** Gives the place back, or leaves the line. */
  leave(): void;
}

export class Slots {
  readonly #limit: number;
  readonly #line = new Set<() => void>();
  /** The most that wait in line; null for any number. */
  readonly maxLine: number | null;
  #taken = 0;
  /** Those that were admitted and have not asked for their place yet. */
  #coming = 0;

  constructor(limit: number | null, maxLine: number | null = null) {
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
    this.maxLine = maxLine;
  }

  /** Does work that ends in taking a place; rejects before anything is done when the line is full. */
  async admit<T>(work: () => Promise<T>): Promise<T> {
    const free = Math.max(0, this.#limit - this.#taken);
    const places = free + (this.maxLine ?? Number.POSITIVE_INFINITY);
    if (this.#coming + this.#line.size >= places) throw this.#full();
    this.#coming++;
    try {
      return await work();
    } finally {
      this.#coming--;
    }
  }

  /** Calls `begin` when there is a free slot: now, or later. */
  take(begin: () => void): Place {
    return this.#place(begin, this.#taken < this.#limit);
  }

  /** A slot for what cannot wait, even beyond the limit. */
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

  #full(): AsyncAgentsError {
    const message = `${this.#limit} tasks are running and ${this.maxLine} are queued. Wait until some have ended, or cancel some, then try again.`;
    return new AsyncAgentsError("too_many_tasks", message, {
      details: { at_work: this.#limit, in_line: this.maxLine },
    });
  }

  #admit(): void {
    for (const enter of this.#line) {
      if (this.#taken >= this.#limit) return;
      this.#line.delete(enter);
      enter();
    }
  }
}
