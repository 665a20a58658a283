/**
 * One clock for everything that ticks: it runs only while something shows it. Everything on the page shows the same
 * moment.
 */
import { useSyncExternalStore } from "react";

const TICK_MS = 1000;

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    now = Date.now();
    timer = setInterval(tick, TICK_MS);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}

const still = () => () => {};

/** The current time; it stands still if nothing moves. */
export function useNow({ moves = true } = {}): number {
  return useSyncExternalStore(moves ? subscribe : still, () => now);
}

/** A text about the current time; what shows it is rendered again only when the text changes. */
export function useTextOfNow(textAt: (now: number) => string): string {
  return useSyncExternalStore(subscribe, () => textAt(now));
}
