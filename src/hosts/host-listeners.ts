/** Those who listen to a host: each gets every event, in the order in which they came. Keeps no events. */
import type { HostEvent } from "./host.ts";

export class HostListeners {
  readonly #listeners = new Set<(event: HostEvent) => void>();

  /** Returns a function that unsubscribes. */
  add(listener: (event: HostEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: HostEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
