/** When each run ended, in virtual time. The stored times come from a wall clock, which people may set. */
export class EndTimes {
  readonly #times = new Map<string, number>();

  add(taskId: string, run: number, at: number): void {
    this.#times.set(`${taskId} ${run}`, at);
  }

  /** Null if it has not ended. */
  of(taskId: string, run: number): number | null {
    return this.#times.get(`${taskId} ${run}`) ?? null;
  }
}
