/**
 * Stops the clocks, timers and chance of the real machine while a seed is played: whoever uses them gets an error, and
 * the seed fails. Otherwise a run could not be repeated. The timeline keeps what it needs for itself. What was imported
 * by name from a module of Node is stopped too; what somebody kept in a variable of its own before is not.
 */
import { mock } from "bun:test";
import nodeCrypto from "node:crypto";
import nodeTimers from "node:timers";
import timerPromises from "node:timers/promises";

export interface StoppedClocks {
  /** What was used, and where. */
  readonly uses: readonly string[];
  restore(): void;
}

const TIMERS = ["setTimeout", "setInterval", "setImmediate"] as const;
const CHANCE = ["randomUUID", "randomBytes", "randomInt", "getRandomValues", "randomFillSync"] as const;

/** The objects that hold them, and their names there. */
const HIDDEN: readonly [holder: object, names: readonly string[]][] = [
  [globalThis, TIMERS],
  [Date, ["now"]],
  [Math, ["random"]],
  [performance, ["now"]],
  [process, ["hrtime", "uptime"]],
  [Bun, ["nanoseconds", "sleep", "sleepSync", "randomUUIDv7"]],
  [AbortSignal, ["timeout"]],
  [crypto, ["randomUUID", "getRandomValues"]],
  [nodeCrypto, CHANCE],
  [nodeTimers, TIMERS],
  [timerPromises, TIMERS],
];

/** Where imports by name are bound to a module once, and not looked up in its object. */
const MODULES: readonly [module: string, holder: object, names: readonly string[]][] = [
  ["node:crypto", nodeCrypto, CHANCE],
  ["node:timers", nodeTimers, TIMERS],
  ["node:timers/promises", timerPromises, TIMERS],
];

/** Null while the real clocks run. */
let use: ((name: string) => never) | null = null;
let areModulesReplaced = false;

export function stopRealClocks(): StoppedClocks {
  const uses: string[] = [];
  replaceModules();
  use = (name) => {
    const error = new Error(`${name} is not there in a simulation`);
    const where = error.stack
      ?.split("\n")
      .find((line) => /\/(src|simulation|test|node_modules)\//.test(line) && !line.includes("real-clocks"));
    uses.push(`${name}, ${where?.trim() ?? "somewhere"}`);
    throw error;
  };
  const restores = HIDDEN.flatMap(([holder, names]) => names.map((name) => stop(holder, name)));
  restores.push(stopDate());
  return {
    uses,
    restore() {
      use = null;
      for (const restore of restores) restore();
    },
  };
}

function stop(holder: object, name: string): () => void {
  const known = Object.getOwnPropertyDescriptor(holder, name);
  const value = () => use?.(name);
  // Bun's own are not to be defined anew, and can be set.
  const isFixed = known !== undefined && !known.configurable;
  Object.defineProperty(holder, name, isFixed ? { value } : { value, configurable: true, writable: true });
  return () => {
    if (known) Object.defineProperty(holder, name, known);
    else Reflect.deleteProperty(holder, name);
  };
}

/** The present time is what a date has that is made of nothing; `Date()` says it as a text. */
function stopDate(): () => void {
  const RealDate = Date;
  const stopped: DateConstructor = new Proxy(RealDate, {
    construct(target, given, made): Date {
      if (given.length === 0) use?.("new Date()");
      return Reflect.construct(target, given, made);
    },
    apply: () => use?.("Date()"),
  });
  globalThis.Date = stopped;
  return () => {
    globalThis.Date = RealDate;
  };
}

/** Once: what is imported by name asks at each call whether it may. */
function replaceModules(): void {
  if (areModulesReplaced) return;
  areModulesReplaced = true;
  for (const [module, holder, names] of MODULES) {
    const real = holder as Record<string, (...given: unknown[]) => unknown>;
    const asking = names.map((name): [string, unknown] => {
      const known = real[name];
      return [name, (...given: unknown[]) => (use === null ? known?.(...given) : use(name))];
    });
    mock.module(module, () => ({ ...real, ...Object.fromEntries(asking), default: holder }));
  }
}
