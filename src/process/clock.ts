/**
 * Where time comes from: two clocks and a timer. The rules (src/model, src/engine, src/board and the queries of
 * src/store) get theirs in their context, so that a test or a simulation can give them another time. Contexts are
 * spread and taken apart: the functions of a clock are its own properties and do not use `this`.
 */
import { awakeNow } from "./awake-clock.ts";

export interface Clock {
  /** The wall clock, for times that are stored and shown: ms since the epoch. Somebody may set it. */
  now(): number;
  /** For durations: ms that only increase, and only while the machine is awake. */
  monotonic(): number;
  /**
   * Calls back once, after that time, and never before this call has returned. The returned function cancels it. With
   * `background`, it does not keep the process alive.
   */
  after(ms: number, work: () => void, options?: { background?: boolean }): () => void;
}

/** The clock of this machine. */
export const systemClock: Clock = {
  now: Date.now,
  monotonic: awakeNow,
  after(ms, work, { background = false } = {}) {
    const timer = setTimeout(work, ms);
    if (background) timer.unref();
    return () => clearTimeout(timer);
  },
};
