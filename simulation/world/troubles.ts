/**
 * When something was wrong with the machine or one of its processes, so that the checks can tell what took too long:
 * nothing is promised for the time in which a process was dead, frozen or without a disk, and for a while afterwards.
 */
const AFTERMATH_MS = 90_000;

export class Troubles {
  readonly #times: { from: number; until: number }[] = [];

  add(from: number, ms: number): void {
    this.#times.push({ from, until: from + ms + AFTERMATH_MS });
  }

  /** How much of that time was without trouble. */
  calm(from: number, until: number): number {
    let calm = 0;
    let at = from;
    const sorted = this.#times.toSorted((one, other) => one.from - other.from);
    for (const trouble of sorted) {
      if (trouble.until <= at || trouble.from >= until) continue;
      calm += Math.max(0, trouble.from - at);
      at = Math.max(at, trouble.until);
    }
    return calm + Math.max(0, until - at);
  }
}
