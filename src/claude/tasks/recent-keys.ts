/**
 * A map with a bounded number of keys: the oldest is dropped first.
 */
export class RecentKeys<Value> {
  readonly #limit: number;
  readonly #values = new Map<string, Value>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  /** False if the key existed; its value is replaced then. */
  add(key: string, value: Value): boolean {
    const isNew = !this.#values.has(key);
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.#limit && oldest !== undefined) this.#values.delete(oldest);
    return isNew;
  }
}
