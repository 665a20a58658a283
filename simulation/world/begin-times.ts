/** When each run began, in virtual time: the stored times come from a wall clock, which people may set. */
export class BeginTimes {
  /** Those of a task's runs, in order: its runs begin one after the other. */
  readonly #times = new Map<string, number[]>();

  add(taskId: string, at: number): void {
    const times = this.#times.get(taskId) ?? [];
    this.#times.set(taskId, [...times, at]);
  }

  /** Null if it has not begun. */
  of(taskId: string, run: number): number | null {
    return this.#times.get(taskId)?.[run] ?? null;
  }
}
