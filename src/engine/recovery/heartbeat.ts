/**
 * Says to the store, again and again, that this instance lives: for those who cannot see its process. Where the store has
 * forgotten the instance, because somebody held it for dead, it registers again and says so. Judges nobody.
 */
import { messageOf } from "../../model/errors.ts";
import type { EngineContext } from "../context.ts";

export class Heartbeat {
  readonly #context: EngineContext;
  readonly #onForgotten: () => Promise<void>;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #stopped = false;

  constructor(context: EngineContext, onForgotten: () => Promise<void>) {
    this.#context = context;
    this.#onForgotten = onForgotten;
  }

  start(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(async () => {
      await this.#beat();
      this.start();
    }, this.#context.settings.beatMs);
    this.#timer.unref();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  async #beat(): Promise<void> {
    const { store, instance, log } = this.#context;
    try {
      if ((await store.beat(instance.id)) || this.#stopped) return;
      log.error("another process held this one for dead; it registers again", { instance: instance.id });
      await store.addInstance(instance);
      await this.#onForgotten();
    } catch (thrown) {
      log.error("the heartbeat could not be written; the next one tries again", { error: messageOf(thrown) });
    }
  }
}
