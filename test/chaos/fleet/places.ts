/**
 * The places of a fleet's processes: each process is started, killed and started again in its place, and what was lost
 * is written down.
 */
import type { Loss } from "./attempts.ts";
import type { FleetProcess } from "./fleet.ts";

interface PlaceOptions<P extends FleetProcess> {
  start(): Promise<P>;
  takers: Loss["takers"];
  /** How long it stays away after a kill. */
  awayMs: number;
  /** How long each process lives at least: on a busy machine, nothing would ever be done otherwise. */
  leastMs: number;
}

export class Place<P extends FleetProcess = FleetProcess> {
  /** Null while it is away. */
  process: P | null = null;
  /** It is not killed meanwhile. */
  isSpared = false;
  readonly #options: PlaceOptions<P>;
  readonly #losses: Loss[];
  /** The process that runs, or will run next. */
  #starting: Promise<P> | null = null;
  #startedAt = 0;

  constructor(losses: Loss[], options: PlaceOptions<P>) {
    this.#losses = losses;
    this.#options = options;
  }

  /** Resolves when it runs. Does nothing if it does. */
  start(): Promise<P> {
    this.#starting ??= this.#started();
    return this.#starting;
  }

  /** kill -9, and a new process later. False if it has not run for long enough. */
  async kill(): Promise<boolean> {
    const { process, isSpared } = this;
    const { takers, awayMs, leastMs } = this.#options;
    if (process === null || isSpared || performance.now() - this.#startedAt < leastMs) return false;
    this.#losses.push({ pid: process.pid, at: Date.now(), wokenAt: null, takers });
    this.process = null;
    process.kill("SIGKILL");
    this.#starting = process.exited.then(() => Bun.sleep(awayMs)).then(() => this.#started());
    await process.exited;
    return true;
  }

  /** As a service manager does: a program that cannot reach the database when it starts is started again. */
  async #started(tries = 20): Promise<P> {
    try {
      this.process = await this.#options.start();
      this.#startedAt = performance.now();
      return this.process;
    } catch (thrown) {
      if (tries === 0) throw thrown;
      await Bun.sleep(500);
      return this.#started(tries - 1);
    }
  }

  /** It stands still until then, and is spared. Resolves when it goes on. */
  async freeze(until: Promise<void>): Promise<Loss> {
    this.isSpared = true;
    const process = await this.start();
    const loss: Loss = { pid: process.pid, at: Date.now(), wokenAt: null, takers: "other" };
    this.#losses.push(loss);
    process.kill("SIGSTOP");
    await until;
    loss.wokenAt = Date.now();
    process.kill("SIGCONT");
    return loss;
  }
}
