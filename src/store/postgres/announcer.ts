/**
 * Announces the commits of this process to all processes: the first one at once, then at most one announcement in a
 * while, however many commits there were. What fails is tried again. The listeners' slow poll is behind all of this.
 */
const PAUSE_MS = 50;
const PAUSE_AFTER_FAILURE_MS = 1_000;

export class Announcer {
  readonly #announce: () => Promise<void>;
  #isDue = false;
  #running: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(announce: () => Promise<void>) {
    this.#announce = announce;
  }

  /** Whether the next commit is announced at once. */
  get isQuiet(): boolean {
    return this.#running === null && this.#timer === null;
  }

  /** A commit was announced by itself. */
  announced(): void {
    if (this.isQuiet) this.#pause(PAUSE_MS);
  }

  /** After a commit; returns at once. */
  committed(): void {
    this.#isDue = true;
    if (this.isQuiet) this.#run();
  }

  #run(): void {
    this.#isDue = false;
    this.#running = this.#announce()
      .then(
        () => PAUSE_MS,
        () => {
          this.#isDue = true;
          return PAUSE_AFTER_FAILURE_MS;
        },
      )
      .then((pause) => {
        this.#running = null;
        this.#pause(pause);
      });
  }

  #pause(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#isDue) this.#run();
    }, ms);
    this.#timer.unref();
  }

  /** Announces what is left. Never rejects. */
  async close(): Promise<void> {
    await this.#running;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#isDue) await this.#announce().catch(() => {});
  }
}
