/**
 * When each run ended, in virtual time, and which prompts agents were working on at that very moment. The stored times
 * come from a wall clock, which people may set.
 */
interface End {
  at: number;
  working: ReadonlySet<string>;
  /** The prompts that a program has and has not begun to work on. */
  waiting: ReadonlySet<string>;
}

export class EndTimes {
  readonly #ends = new Map<string, End>();

  readonly #waiting = new Map<string, (() => void)[]>();

  add(taskId: string, run: number, end: End): void {
    const key = `${taskId} ${run}`;
    this.#ends.set(key, end);
    for (const call of this.#waiting.get(key) ?? []) call();
    this.#waiting.delete(key);
  }

  /** Calls back when it ends; never, if it has ended. */
  onEnd(taskId: string, run: number, call: () => void): void {
    const key = `${taskId} ${run}`;
    this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), call]);
  }

  /** Null if it has not ended. */
  of(taskId: string, run: number): number | null {
    return this.#ends.get(`${taskId} ${run}`)?.at ?? null;
  }

  /** Whether an agent worked on that prompt when the end of its run was written. */
  wasWorking(taskId: string, run: number, messageId: string): boolean {
    return this.#ends.get(`${taskId} ${run}`)?.working.has(messageId) ?? false;
  }

  /** Whether that prompt waited for its agent to begin when the end of its run was written. */
  wasWaiting(taskId: string, run: number, messageId: string): boolean {
    return this.#ends.get(`${taskId} ${run}`)?.waiting.has(messageId) ?? false;
  }
}
