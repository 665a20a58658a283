/**
 * What happened in a run, in words, for people who read a failed seed. Kept only if somebody will read it.
 */
export class History {
  readonly lines: string[] = [];
  readonly #isKept: boolean;
  clock: () => number = () => 0;

  constructor(isKept: boolean) {
    this.#isKept = isKept;
  }

  /** The text may be a function: then it is made only if it is kept. */
  add(who: string, text: string | (() => string)): void {
    if (!this.#isKept) return;
    const seconds = (this.clock() / 1000).toFixed(3).padStart(9);
    this.lines.push(`${seconds}  ${who.padEnd(14)} ${typeof text === "string" ? text : text()}`);
  }
}
