/**
 * Reports that the board changed, whichever process changed it. The listener reads what changed. Changes close together
 * are reported once. Reads a single number, and nothing while nobody listens.
 */
import { messageOf } from "../../model/errors.ts";
import type { WatchContext } from "./changes.ts";

const PAUSE_MS = 20;

export class BoardChanges {
  readonly #context: WatchContext;
  readonly #listener: () => void;
  #version = 0;
  #stop: (() => void) | null = null;
  /** Cancels a look that is scheduled. */
  #cancelLook: (() => void) | null = null;

  constructor(context: WatchContext, listener: () => void) {
    this.#context = context;
    this.#listener = listener;
  }

  async start(): Promise<void> {
    const { store, after } = this.#context;
    this.#version = await store.board.version();
    this.#stop = store.onChange(() => {
      this.#cancelLook ??= after(PAUSE_MS, () => void this.#look());
    });
  }

  stop(): void {
    this.#stop?.();
    this.#stop = null;
    this.#cancelLook?.();
    this.#cancelLook = null;
  }

  async #look(): Promise<void> {
    this.#cancelLook = null;
    const { store, log } = this.#context;
    try {
      const version = await store.board.version();
      if (version === this.#version || this.#stop === null) return;
      this.#version = version;
      this.#listener();
    } catch (thrown) {
      log.error("the board could not be read; it is read again after the next change", {
        error: messageOf(thrown),
      });
    }
  }
}
