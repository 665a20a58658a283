/**
 * Random choices from a seed: the same seed gives the same choices, on every machine. Streams split off by name do not
 * disturb each other: one more choice in one of them changes nothing in the others.
 */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = mixed(seed >>> 0);
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<T>(list: readonly T[]): T {
    const chosen = list[this.whole(0, list.length - 1)];
    if (chosen === undefined) throw new Error("There is nothing to pick from.");
    return chosen;
  }

  /** Most often short, sometimes up to `most`: as delays are. */
  delay(most: number): number {
    return Math.floor(this.next() ** 4 * most);
  }

  /** A stream of its own. */
  split(name: string): Random {
    let hash = this.#state;
    for (const letter of name) hash = mixed(hash ^ letter.charCodeAt(0));
    return new Random(hash);
  }
}

function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
