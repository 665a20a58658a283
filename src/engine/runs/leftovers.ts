/**
 * Work at the host that no run of ours stands behind any more: its run was taken by another process, or ended before its
 * prompt arrived. It is stopped, and tried again with growing pauses, unless the session gets a new run meanwhile.
 * Says nothing about tasks.
 */
import { messageOf } from "../../model/errors.ts";
import type { EngineContext } from "../context.ts";

const FIRST_PAUSE_MS = 500;
const TRIES = 8;

export class Leftovers {
  readonly #context: EngineContext;
  readonly #isInUse: (sessionId: string) => boolean;
  readonly #pausing = new Map<string, ReturnType<typeof setTimeout>>();
  #closed = false;

  /** `isInUse`: the session has a live run of ours, which must not be stopped. */
  constructor(context: EngineContext, isInUse: (sessionId: string) => boolean) {
    this.#context = context;
    this.#isInUse = isInUse;
  }

  stop(sessionId: string): void {
    void this.#try(sessionId, 1);
  }

  /** Gives up on all of them: the process ends. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#pausing.values()) clearTimeout(timer);
    this.#pausing.clear();
  }

  async #try(sessionId: string, count: number): Promise<void> {
    clearTimeout(this.#pausing.get(sessionId));
    this.#pausing.delete(sessionId);
    if (this.#closed || this.#isInUse(sessionId)) return;
    const { host, log } = this.#context;
    try {
      await host.abort(sessionId);
    } catch (thrown) {
      const isLast = count >= TRIES;
      const next = isLast ? "it is left alone now" : "it is tried again";
      log.error(`a session without a run could not be stopped; ${next}`, { sessionId, error: messageOf(thrown) });
      if (isLast || this.#closed) return;
      const timer = setTimeout(() => void this.#try(sessionId, count + 1), FIRST_PAUSE_MS * 2 ** (count - 1));
      this.#pausing.set(sessionId, timer);
    }
  }
}
