/**
 * What happened in a run, in words, for people who read a failed seed. Kept only if somebody will read it.
 */
const LONGEST = 180;

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
    const line = `${seconds}  ${who.padEnd(14)} ${typeof text === "string" ? text : text()}`;
    this.lines.push(line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line);
  }
}
