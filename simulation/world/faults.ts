/**
 * Which faults happen, by seed. Each kind has a probability of its own for one seed (many seeds have only a few kinds)
 * and is counted when it happens. After `heal` none happens any more.
 */
import type { Random } from "../time/random.ts";

export const FAULTS = {
  /** A process dies, at any point. */
  "process dies": 0.4,
  "process freezes": 0.3,
  "machine sleeps": 0.1,
  "clock jumps": 0.2,
  "disk is full": 0.15,
  /** Per query. */
  "query fails": 0.02,
  "query fails after its commit": 0.01,
  "query is slow": 0.05,
  "transaction runs twice": 0.02,
  /** Per host event. */
  "event is lost": 0.08,
  "event comes twice": 0.05,
  "event comes late": 0.1,
  /** Per host call. */
  "call fails": 0.03,
  "call fails after its effect": 0.03,
  "call fails and arrives late": 0.03,
  "call is slow": 0.05,
  "status lies": 0.1,
  "agent program dies": 0.1,
} as const;

export type Fault = keyof typeof FAULTS;

const KINDS = Object.keys(FAULTS) as Fault[];

export class Faults {
  readonly #random: Random;
  readonly #odds = new Map<Fault, number>();
  readonly counts = new Map<Fault, number>();
  #isHealed = false;

  /** `calm` are the kinds that do not happen, whatever the seed says. */
  constructor(random: Random, calm: ReadonlySet<string>) {
    this.#random = random.split("faults");
    const share = this.#random.next();
    for (const kind of KINDS) {
      const isOn = this.#random.next() < share;
      const strength = 0.3 + 2 * this.#random.next();
      if (isOn && !calm.has(kind)) this.#odds.set(kind, Math.min(0.9, FAULTS[kind] * strength));
    }
  }

  /** The kinds that this seed has. */
  get kinds(): Fault[] {
    return [...this.#odds.keys()];
  }

  /** Whether this seed has that kind. */
  has(kind: Fault): boolean {
    return this.#odds.has(kind);
  }

  /** Whether it happens now. */
  happens(kind: Fault): boolean {
    const odds = this.#odds.get(kind);
    if (odds === undefined || this.#isHealed || !this.#random.chance(odds)) return false;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    return true;
  }

  heal(): void {
    this.#isHealed = true;
  }
}
