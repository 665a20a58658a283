/**
 * One process of the machine: its clocks and timers, and everything that it waits for. It may die or freeze whenever it
 * waits. Invariant: after its death nothing of it runs; while it is frozen nothing of it runs, and afterwards
 * everything does, in order.
 */
import type { Clock } from "../../src/process/clock.ts";
import type { Timeline } from "../time/timeline.ts";

/** Virtual time begins here: 2026-01-01. */
export const EPOCH = Date.UTC(2026, 0, 1);
/** One step of the clock for durations counts for a minute at most, as in the real one. */
const LONGEST_STEP_MS = 60_000;

export class SimulatedProcess implements Clock {
  readonly name: string;
  readonly pid: number;
  /** Its machine. */
  readonly place: string;
  readonly #timeline: Timeline;
  /** How far the wall clock is off; all processes of its machine share it. */
  readonly #wall: { skew: number };
  readonly #backlog: (() => void)[] = [];
  readonly #onEnd = new Set<() => void>();
  readonly #onThaw: (() => void)[] = [];
  #strike: { waits: number; blow: () => void } | null = null;
  #strikeInTransaction: (() => void) | null = null;
  #aim: { at: string; waits: number; blow: () => void } | null = null;
  #watch: { at: string; call: (what: string) => void } | null = null;
  #isAlive = true;
  #isFrozen = false;
  #awake = 0;
  #lastRead: number;
  /** How many timers are set. */
  timers = 0;

  constructor(
    { role, pid, place }: { role: string; pid: number; place: string },
    timeline: Timeline,
    wall: { skew: number },
  ) {
    this.name = `${role}#${pid}`;
    this.pid = pid;
    this.place = place;
    this.#timeline = timeline;
    this.#wall = wall;
    this.#lastRead = timeline.now;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  readonly now = (): number => EPOCH + Math.floor(this.#timeline.now) + this.#wall.skew;

  readonly monotonic = (): number => {
    const now = this.#timeline.now;
    this.#awake += Math.min(now - this.#lastRead, LONGEST_STEP_MS);
    this.#lastRead = now;
    return this.#awake;
  };

  readonly after = (ms: number, work: () => void): (() => void) => {
    this.timers++;
    let isOver = false;
    const finish = () => {
      if (!isOver) this.timers--;
      isOver = true;
    };
    const cancel = this.#timeline.schedule(ms, () =>
      this.run(() => {
        if (isOver) return;
        finish();
        work();
      }),
    );
    return () => {
      finish();
      cancel();
    };
  };

  /** Milliseconds since the world began; not for the process itself. */
  elapsed(): number {
    return this.#timeline.now;
  }

  /** Does something to the process when it has waited that often: in the middle of what it does by then. */
  strike(waits: number, blow: () => void): void {
    this.#strike = { waits, blow };
  }

  /** Does something to the process when it does that next, after so many waits: most waits are those of polls. */
  strikeAt(at: string, waits: number, blow: () => void): void {
    this.#aim = { at, waits, blow };
  }

  /** Calls back when the process does that next. */
  watch(at: string, call: (what: string) => void): void {
    this.#watch = { at, call };
  }

  /** It begins to do something that a strike may be aimed at. */
  reaches(what: string): void {
    if (this.#watch !== null && what.startsWith(this.#watch.at)) {
      const { call } = this.#watch;
      this.#watch = null;
      call(what);
    }
    if (this.#aim === null || !what.startsWith(this.#aim.at)) return;
    const { waits, blow } = this.#aim;
    this.#aim = null;
    this.strike(waits, blow);
  }

  /** Does something to the process while it holds the lock of the database: in its next transaction. */
  strikeInTransaction(blow: () => void): void {
    this.#strikeInTransaction = blow;
  }

  /** It has the lock of the database now. True if something was done to it. */
  isStruckInTransaction(): boolean {
    const blow = this.#strikeInTransaction;
    this.#strikeInTransaction = null;
    blow?.();
    return blow !== null;
  }

  /** Takes back what was to strike it. */
  spare(): void {
    this.#strike = null;
    this.#strikeInTransaction = null;
    this.#aim = null;
    this.#watch = null;
  }

  /** Runs a piece of the process's code: now, after it thaws, or never. */
  run(work: () => void): void {
    if (!this.#isAlive) return;
    if (this.#isFrozen) this.#backlog.push(work);
    else work();
  }

  /** What the process waits for: settles in it that much later, unless it has died by then. */
  settle<T>(ms: number, outcome: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const piece = () => {
        this.#struck();
        if (!this.#isAlive) return;
        // It froze here, so nothing else waits before this.
        if (this.#isFrozen) return void this.#backlog.push(piece);
        try {
          resolve(outcome());
        } catch (thrown) {
          reject(thrown);
        }
      };
      this.#timeline.schedule(ms, () => this.run(piece));
    });
  }

  #struck(): void {
    if (this.#strike === null || --this.#strike.waits > 0) return;
    const { blow } = this.#strike;
    this.#strike = null;
    blow();
  }

  die(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#backlog.length = 0;
    for (const end of this.#onEnd) end();
    this.#onEnd.clear();
  }

  /** Called when it dies. */
  onEnd(end: () => void): void {
    this.#onEnd.add(end);
  }

  /** `thawed` is called when it goes on. */
  freeze(thawed: () => void = () => {}): void {
    this.#isFrozen = true;
    this.#onThaw.push(thawed);
  }

  /** One piece at a time, as an event loop would. */
  thaw(): void {
    this.#isFrozen = false;
    for (const thawed of this.#onThaw.splice(0)) thawed();
    const waiting = this.#backlog.splice(0);
    for (const work of waiting) this.#timeline.schedule(0, () => this.run(work));
  }
}
