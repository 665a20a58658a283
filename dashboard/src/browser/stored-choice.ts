/**
 * A choice that this browser remembers. If storage is blocked, it lasts as long as the page.
 */
import { useSyncExternalStore } from "react";

export class StoredChoice<T extends string> {
  readonly #key: string;
  readonly #listeners = new Set<() => void>();
  #value: T;

  constructor(key: string, choices: readonly T[], first: T) {
    this.#key = key;
    const stored = read(key);
    this.#value = choices.find((choice) => choice === stored) ?? first;
  }

  readonly value = (): T => this.#value;

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  choose(value: T): void {
    this.#value = value;
    try {
      window.localStorage.setItem(this.#key, value);
    } catch {
      // Storage can be full or blocked; the choice still applies to this page.
    }
    for (const listener of this.#listeners) listener();
  }
}

export function useChoice<T extends string>(choice: StoredChoice<T>): T {
  return useSyncExternalStore(choice.subscribe, choice.value);
}

function read(key: string): string | null {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}
