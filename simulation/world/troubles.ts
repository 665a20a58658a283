/**
 * When something was wrong with the machine or one of its processes, so that the checks can tell what took too long:
 * nothing is promised for the time in which a process was dead, frozen or without a disk, and for a while afterwards.
 * What is over earlier than it was to be counts only until then, and nothing counts beyond the end of the storm.
 */

/** A call that was made in the trouble may fail so much later. The limits of the checks hold what follows from that. */
const AFTERMATH_MS = 30_000;

interface Trouble {
  from: number;
  until: number;
}

export class Troubles {
  readonly #times: Trouble[] = [];

  /** The returned function ends it earlier, at that time. */
  add(from: number, ms: number): (at: number) => void {
    const trouble = { from, until: from + ms };
    this.#times.push(trouble);
    return (at) => end(trouble, at);
  }

  /** The storm is over: whatever was wrong is not any more. */
  heal(at: number): void {
    for (const trouble of this.#times) end(trouble, at);
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

function end(trouble: Trouble, at: number): void {
  trouble.until = Math.max(trouble.from, Math.min(trouble.until, at));
}
