/**
 * When each run ended, in virtual time, and which prompts agents were working on at that very moment. The stored times
 * come from a wall clock, which people may set.
 */
import type { SimulatedProcess } from "./simulated-process.ts";

interface End {
  at: number;
  /** The process that wrote it, and all that lived. */
  by: SimulatedProcess;
  living: ReadonlySet<SimulatedProcess>;
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

  /** The process that wrote it; null if it has not ended. */
  writerOf(taskId: string, run: number): string | null {
    return this.#ends.get(`${taskId} ${run}`)?.by.name ?? null;
  }

  /** Who wrote it although that process lived; null if that process wrote it itself, or was dead. */
  writtenBehind(owner: SimulatedProcess, taskId: string, run: number): SimulatedProcess | null {
    const end = this.#ends.get(`${taskId} ${run}`);
    return end === undefined || end.by === owner || !end.living.has(owner) ? null : end.by;
  }
}
