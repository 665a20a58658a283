/**
 * Stops the clocks, timers and chance of the real machine while a seed is played: whoever uses them gets an error, and
 * the seed fails. Otherwise a run could not be repeated. The timeline keeps what it needs for itself.
 */

export interface StoppedClocks {
  /** What was used, and where. */
  readonly uses: readonly string[];
  restore(): void;
}

/** The objects that hold them, and their names there. */
const HIDDEN: readonly [holder: object, names: readonly string[]][] = [
  [globalThis, ["setTimeout", "setInterval", "setImmediate"]],
  [Date, ["now"]],
  [Math, ["random"]],
  [performance, ["now"]],
  [crypto, ["randomUUID", "getRandomValues"]],
];

export function stopRealClocks(): StoppedClocks {
  const uses: string[] = [];
  const restores = HIDDEN.flatMap(([holder, names]) => names.map((name) => stop(holder, name, uses)));
  return {
    uses,
    restore() {
      for (const restore of restores) restore();
    },
  };
}

function stop(holder: object, name: string, uses: string[]): () => void {
  const known = Object.getOwnPropertyDescriptor(holder, name);
  Object.defineProperty(holder, name, {
    configurable: true,
    writable: true,
    value() {
      const error = new Error(`${name} is not there in a simulation`);
      const where = error.stack
        ?.split("\n")
        .find((line) => /\/(src|simulation|node_modules)\//.test(line) && !line.includes("real-clocks"));
      uses.push(`${name}, ${where?.trim() ?? "somewhere"}`);
      throw error;
    },
  });
  return () => {
    if (known) Object.defineProperty(holder, name, known);
    else Reflect.deleteProperty(holder, name);
  };
}
