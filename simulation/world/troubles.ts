/**
 * When something was wrong with the machine or one of its processes, so that the checks can tell what took too long:
 * nothing is promised for the time in which a process was dead, frozen or without a disk, and for a while afterwards.
 */
const AFTERMATH_MS = 90_000;

export class Troubles {
  readonly #times: { from: number; until: number }[] = [];

  add(from: number, ms: number): void {
    this.#times.push({ from, until: from + ms });
  }

  /** How much of that time was without trouble, and not too soon after it. */
  calm(from: number, until: number, aftermathMs = AFTERMATH_MS): number {
    let calm = 0;
    let at = from;
    const sorted = this.#times.toSorted((one, other) => one.from - other.from);
    for (const trouble of sorted) {
      const over = trouble.until + aftermathMs;
      if (over <= at || trouble.from >= until) continue;
      calm += Math.max(0, trouble.from - at);
      at = Math.max(at, over);
    }
    return calm + Math.max(0, until - at);
  }
}
