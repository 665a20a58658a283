/**
 * The command line of the benchmarks. Wrong arguments give a text that says what is right; nothing is started then.
 */
import { parseArgs } from "node:util";
import { MODES, type Mode } from "./bed.ts";

export const BENCHMARKS = ["background-task"] as const;

export type Benchmark = (typeof BENCHMARKS)[number];

export type Arguments =
  | { type: "run"; benchmarks: Benchmark[]; on: Mode[]; pairs: number; warmUps: number }
  | { type: "help" }
  | { type: "wrong"; problem: string };

const PAIRS = 30;
const MOST_PAIRS = 1_000;
const WARM_UPS = 4;

export const HELP = `Usage: npm run bench -- [name] [--on tui|serve|both] [--pairs N] [--warm-ups N]

Runs the benchmarks side by side with what they are compared with, in one run, and prints ratios.

  background-task   asyncagents and OpenCode's own background \`task\`, in one real OpenCode with a scripted model:
                    the launching call, the time until the parent is told, and the bytes in the parent's context

  --on MODE         tui: OpenCode's TUI, as people use it; serve: headless, over HTTP; both, one after the other (both)
  --pairs N         interleaved pairs to measure in each mode (${PAIRS})
  --warm-ups N      pairs to run before and throw away (${WARM_UPS})
  --help            this text

The figures are also written to .test-report/bench.json.
Exit code: 0 when every ratio is within its limit, 1 when one is over it, 2 for wrong arguments.`;

export function readArguments(args: readonly string[]): Arguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        on: { type: "string" },
        pairs: { type: "string" },
        "warm-ups": { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help) return { type: "help" };
    const unknown = positionals.find((name) => !isBenchmark(name));
    if (unknown !== undefined) throw new Error(`There is no benchmark "${unknown}". Known: ${BENCHMARKS.join(", ")}.`);
    const named = positionals.filter(isBenchmark);
    return {
      type: "run",
      benchmarks: named.length > 0 ? [...new Set(named)] : [...BENCHMARKS],
      on: modes(values.on),
      pairs: wholeNumber("--pairs", values.pairs, { least: 1, otherwise: PAIRS }),
      warmUps: wholeNumber("--warm-ups", values["warm-ups"], { least: 0, otherwise: WARM_UPS }),
    };
  } catch (thrown) {
    return { type: "wrong", problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

function isBenchmark(name: string): name is Benchmark {
  return (BENCHMARKS as readonly string[]).includes(name);
}

function modes(text = "both"): Mode[] {
  const chosen = MODES.filter((mode) => text === mode || text === "both");
  if (chosen.length > 0) return chosen;
  throw new Error(`--on must be ${MODES.join(", ")} or both, not "${text}".`);
}

function wholeNumber(name: string, text: string | undefined, range: { least: number; otherwise: number }): number {
  if (text === undefined) return range.otherwise;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= range.least && value <= MOST_PAIRS) return value;
  throw new Error(`${name} must be a whole number from ${range.least} to ${MOST_PAIRS}, not "${text}".`);
}
