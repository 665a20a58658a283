/**
 * Waits for short words about a key ("this message was added", "that session is idle"), each with a time limit. A word
 * that nobody waits for is discarded. A wait that is over leaves nothing behind.
 */
import type { Clock } from "../../process/clock.ts";

export class Signals<Word extends string> {
  readonly #clock: Pick<Clock, "after">;
  readonly #listeners = new Map<string, Set<(word: Word | null) => void>>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** Resolves with the first of these words about one of the keys. Null after the time limit, or at `stop`. */
  wait(keys: readonly string[], words: readonly Word[], limit: number): Promise<Word | null> {
    return new Promise((resolve) => {
      const finish = (word: Word | null) => {
        cancel();
        for (const key of keys) {
          const waiting = this.#listeners.get(key);
          waiting?.delete(listen);
          if (waiting?.size === 0) this.#listeners.delete(key);
        }
        resolve(word);
      };
      const listen = (word: Word | null) => {
        if (word === null || words.includes(word)) finish(word);
      };
      const cancel = this.#clock.after(limit, () => finish(null));
      for (const key of keys) {
        const waiting = this.#listeners.get(key) ?? new Set();
        waiting.add(listen);
        this.#listeners.set(key, waiting);
      }
    });
  }

  /** Says a word about a key; null ends every wait on it. */
  say(key: string, word: Word | null): void {
    for (const listen of [...(this.#listeners.get(key) ?? [])]) listen(word);
  }

  /** Ends all waits. */
  stop(): void {
    for (const key of [...this.#listeners.keys()]) this.say(key, null);
  }
}
