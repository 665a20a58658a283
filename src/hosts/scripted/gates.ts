/**
 * Where scripted agents wait: named gates that a test opens, and requests that someone answers. An opened gate stays
 * open. A wait ends early when its signal aborts; the caller then checks the signal.
 */
import { settlesWithin } from "../../process/deadline.ts";

export interface ScriptedGate {
  /** Resolves when this many agents have arrived, whether or not they still wait. */
  reachedBy(count: number): Promise<void>;
  /** Lets everyone through, later arrivals included. */
  open(): void;
  pass(signal: AbortSignal): Promise<void>;
}

function scriptedGate(): ScriptedGate {
  const opened = Promise.withResolvers<void>();
  const watchers = new Set<() => void>();
  let arrivals = 0;
  return {
    reachedBy(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = () => {
        if (arrivals < count) return;
        watchers.delete(check);
        resolve();
      };
      watchers.add(check);
      check();
      return promise;
    },
    open: () => opened.resolve(),
    async pass(signal) {
      arrivals++;
      for (const check of [...watchers]) check();
      await unlessAborted(opened.promise, signal);
    },
  };
}

/** Named gates, created on first use. */
export function scriptedGates(): (name: string) => ScriptedGate {
  const gates = new Map<string, ScriptedGate>();
  return (name) => {
    const known = gates.get(name) ?? scriptedGate();
    gates.set(name, known);
    return known;
  };
}

/** The result of the work, or undefined once the signal aborts. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return (await settlesWithin(work, { signal })) ? work : undefined;
}
