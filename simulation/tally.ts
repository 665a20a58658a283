/** Adds up what the seeds of a run were like, and words it for people. */

import type { PlayedSeed } from "./player.ts";
import { ACTIONS } from "./scenario/actions.ts";
import { FLEET_ACTIONS } from "./scenario/fleet-actions.ts";
import { FAULTS } from "./world/faults.ts";

export class Tally {
  readonly #seeds: number;
  readonly #began: number;
  readonly #faults = new Map<string, number>(Object.keys(FAULTS).map((kind) => [kind, 0]));
  readonly #actions = new Map<string, number>(Object.keys({ ...ACTIONS, ...FLEET_ACTIONS }).map((name) => [name, 0]));
  readonly failed: PlayedSeed[] = [];
  #steps = 0;
  #played = 0;

  /** `seeds` is how many are to be played; `began` is a time of `performance.now()`. */
  constructor(seeds: number, began: number) {
    this.#seeds = seeds;
    this.#began = began;
  }

  add(played: PlayedSeed): void {
    this.#played++;
    this.#steps += played.steps;
    if (played.violations.length > 0) this.failed.push(played);
    for (const [kind, count] of played.faults) this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + count);
    for (const [name, count] of played.actions) this.#actions.set(name, (this.#actions.get(name) ?? 0) + count);
  }

  /** One line: how far it is. */
  progress(now: number): string {
    const left = (this.#seeds - this.#played) / this.#rate(now);
    const failed = this.failed.length === 0 ? "none failed" : `${this.failed.length} failed`;
    return `${figure(this.#played)} of ${figure(this.#seeds)} seeds, ${failed}; ${this.#rate(now).toFixed(1)} a second, ${duration(left)} left`;
  }

  summary(now: number): string {
    const failed = this.failed.length;
    const all = this.#played === this.#seeds ? "" : ` of ${figure(this.#seeds)}`;
    const seeds = `${figure(this.#played)}${all} ${this.#seeds === 1 ? "seed" : "seeds"}`;
    const steps = this.#played === 0 ? 0 : Math.round(this.#steps / this.#played);
    return [
      "What went wrong in them, by design:",
      ...table(this.#faults),
      "",
      "What people and parents did:",
      ...table(this.#actions),
      "",
      `${seeds} in ${duration((now - this.#began) / 1000)}: ${this.#rate(now).toFixed(1)} a second, ${figure(steps)} steps each`,
      failed === 0 ? "Every promise was kept." : `${figure(failed)} failed: ${shortList(this.failed)}`,
    ].join("\n");
  }

  #rate(now: number): number {
    return this.#played / Math.max(0.001, (now - this.#began) / 1000);
  }
}

const SHOWN_SEEDS = 30;

function shortList(failed: readonly PlayedSeed[]): string {
  const shown = failed.slice(0, SHOWN_SEEDS).map(({ seed }) => String(seed));
  return shown.join(", ") + (failed.length > SHOWN_SEEDS ? ", …" : "");
}

function table(counts: ReadonlyMap<string, number>): string[] {
  return [...counts].map(([name, count]) => `${figure(count).padStart(11)}  ${name}`);
}

function figure(count: number): string {
  return count.toLocaleString("en-US");
}

function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "?";
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
