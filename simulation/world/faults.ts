/**
 * Which faults happen, by seed. Each kind has a probability of its own for one seed (many seeds have only a few kinds)
 * and is counted when it happens. After `heal` none happens any more.
 */
import type { Random } from "../time/random.ts";

export const FAULTS = {
  /** A process dies, at any point. */
  "process dies": 0.4,
  "process freezes": 0.3,
  /** It holds the lock of the database. */
  "process dies in a transaction": 0.15,
  "process freezes in a transaction": 0.15,
  "machine sleeps": 0.1,
  "clock jumps": 0.2,
  "disk is full": 0.15,
  /** Only where there are several machines: one of them does not reach the database, or never comes back. */
  "machine is cut off": 0.25,
  "machine is gone for good": 0.15,
  "process freezes past its lease": 0.25,
  /** Per query. */
  "query fails": 0.02,
  "query fails after its commit": 0.01,
  "query is slow": 0.05,
  "query times out after its commit": 0.01,
  "transaction runs twice": 0.02,
  /** Per host event. */
  "event is lost": 0.08,
  "event comes twice": 0.05,
  "event comes late": 0.1,
  "event overtakes another": 0.2,
  /** Per host call. */
  "call fails": 0.03,
  "call fails after its effect": 0.03,
  "call fails and arrives late": 0.03,
  "call is slow": 0.05,
  "status lies": 0.1,
  "agent program dies": 0.1,
  "host does not answer": 0.1,
  /** What follows from others, and is only counted. */
  "query is cut off": 0,
  "lease runs out": 0,
  /** Only where there are runners. */
  "host cannot be opened": 0.3,
  "runner freezes past its claim": 0.3,
  /** Only where there are several machines: none of them reaches the database. */
  "database is away": 0.15,
} as const;

export type Fault = keyof typeof FAULTS;

const KINDS = Object.keys(FAULTS) as Fault[];

export class Faults {
  readonly #odds = new Map<Fault, number>();
  /** A stream for each kind: a kind that is left out does not change when the others happen. */
  readonly #streams = new Map<Fault, Random>();
  readonly counts = new Map<Fault, number>();
  #isHealed = false;

  /** `calm` are the kinds that do not happen, whatever the seed says. */
  constructor(seed: Random, calm: ReadonlySet<string>) {
    const random = seed.split("faults");
    const share = random.next();
    for (const kind of KINDS) {
      const isOn = random.next() < share;
      const strength = 0.3 + 2 * random.next();
      if (!isOn || calm.has(kind)) continue;
      this.#odds.set(kind, Math.min(0.9, FAULTS[kind] * strength));
      this.#streams.set(kind, random.split(kind));
    }
  }

  /** Whether this seed has that kind. */
  has(kind: Fault): boolean {
    return this.#odds.has(kind);
  }

  /** Whether it happens now. It may be more likely here than elsewhere, up to `most`. */
  happens(kind: Fault, odds = { times: 1, most: 1 }): boolean {
    const isNow = this.isDrawn(kind, odds);
    if (isNow) this.count(kind);
    return isNow;
  }

  /** Whether it is tried now. It is counted where it has an effect. */
  isDrawn(kind: Fault, { times, most } = { times: 1, most: 1 }): boolean {
    const stream = this.#streams.get(kind);
    if (stream === undefined || this.#isHealed) return false;
    return stream.chance(Math.min(most, times * (this.#odds.get(kind) ?? 0)));
  }

  /** Whether it will happen at a moment that is being planned. It is counted when it does. */
  isPlanned(kind: Fault, random: Random): boolean {
    return random.chance(this.#odds.get(kind) ?? 0);
  }

  count(kind: Fault): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  get isHealed(): boolean {
    return this.#isHealed;
  }

  heal(): void {
    this.#isHealed = true;
  }
}
