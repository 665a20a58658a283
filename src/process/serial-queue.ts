/**
 * Runs pieces of work one at a time, in the order of the calls. A failure does not affect the next piece. Only
 * promises: it needs no timer and no turn of the event loop. Orders only the calls of this process.
 */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();
  /** How many calls have not settled yet. */
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    this.#size++;
    const done = this.#last.then(work);
    const settled = () => {
      this.#size--;
    };
    this.#last = done.then(settled, settled);
    return done;
  }

  /** Resolves once everything queued so far has settled. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
