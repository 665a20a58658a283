/**
 * Small records that this browser keeps, one for each thing it was about, the oldest going first. If storage is blocked
 * or full, they last as long as the page.
 */

export class StoredRecords<T> {
  readonly #key: string;
  readonly #most: number;
  #records: Map<string, T>;

  constructor(key: string, most: number) {
    this.#key = key;
    this.#most = most;
    this.#records = readAll<T>(key);
  }

  read(id: string): T | null {
    return this.#records.get(id) ?? null;
  }

  /** Null removes it. */
  write(id: string, value: T | null): void {
    // Another tab may have written since.
    this.#records = new Map([...this.#records, ...readAll<T>(this.#key)]);
    this.#records.delete(id);
    if (value !== null) this.#records.set(id, value);
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= this.#most) break;
      this.#records.delete(oldest);
    }
    try {
      window.localStorage.setItem(this.#key, JSON.stringify([...this.#records]));
    } catch {
      // Storage can be full or blocked; the page itself still remembers.
    }
  }
}

function readAll<T>(key: string): Map<string, T> {
  try {
    return new Map(JSON.parse(window.localStorage.getItem(key) ?? "[]"));
  } catch {
    return new Map();
  }
}
