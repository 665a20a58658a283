/**
 * The output sent to a terminal, as far as waiting for a text requires it. It does not emulate a terminal: a text is
 * found only if it is drawn in one piece.
 */
import { bounded } from "../../src/testing/recorder.ts";

const KEPT = 20_000;
const PATIENCE_MS = 15_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal is controlled with.
const CONTROL = /\x1b(?:\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(?:\x07|\x1b\\))/g;

export class Screen {
  readonly #decoder = new TextDecoder();
  readonly #waiting = new Map<string, { drawn: string; resolve: () => void }>();
  #last = "";

  write(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#last = (this.#last + text).slice(-KEPT);
    for (const [wanted, waiter] of this.#waiting) {
      waiter.drawn = (waiter.drawn + text).slice(-KEPT);
      if (waiter.drawn.replaceAll(CONTROL, "").includes(wanted)) waiter.resolve();
    }
  }

  /** Resolves when the text is drawn, from now on. */
  async shows(text: string, timeoutMs = PATIENCE_MS): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(text, { drawn: "", resolve });
    const describe = () => `"${text}" on the screen. Drawn last:\n${this.#last.replaceAll(CONTROL, "").slice(-2_000)}`;
    await bounded(promise, timeoutMs, describe).finally(() => this.#waiting.delete(text));
  }
}
