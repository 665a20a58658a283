/**
 * Reports that the board changed, whichever process changed it. The listener reads what changed. Changes close together
 * are reported once. Reads a single number, and nothing while nobody listens.
 */
import { messageOf } from "../../model/errors.ts";
import type { Log } from "../../process/log.ts";
import type { Store } from "../../store/store.ts";

const PAUSE_MS = 20;

export class BoardChanges {
  readonly #store: Store;
  readonly #log: Log;
  readonly #listener: () => void;
  #version = 0;
  #stop: (() => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(store: Store, log: Log, listener: () => void) {
    this.#store = store;
    this.#log = log;
    this.#listener = listener;
  }

  async start(): Promise<void> {
    this.#version = await this.#store.board.version();
    this.#stop = this.#store.onChange(() => {
      this.#timer ??= setTimeout(() => void this.#look(), PAUSE_MS);
    });
  }

  stop(): void {
    this.#stop?.();
    this.#stop = null;
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
  }

  async #look(): Promise<void> {
    this.#timer = null;
    try {
      const version = await this.#store.board.version();
      if (version === this.#version || this.#stop === null) return;
      this.#version = version;
      this.#listener();
    } catch (thrown) {
      this.#log.error("the board could not be read; it is read again after the next change", {
        error: messageOf(thrown),
      });
    }
  }
}
