/** What processes did because others asked them through the store, whatever anybody was told about it. */
export class CallLog {
  readonly #times = new Map<string, number>();

  performed(operation: string, input: unknown): void {
    const key = `${operation} ${JSON.stringify(input)}`;
    this.#times.set(key, (this.#times.get(key) ?? 0) + 1);
  }

  /** What was asked once, with a text of its own, and done more often. */
  get repeated(): string[] {
    return [...this.#times].filter(([key, times]) => times > 1 && key.startsWith("resume ")).map(([key]) => key);
  }

  get size(): number {
    return this.#times.size;
  }
}
