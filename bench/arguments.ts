/**
 * The command line of the benchmarks. Invalid arguments produce a text with the correct usage, and nothing is
 * started.
 */
import { parseArgs } from "node:util";
import { MODES, type Mode } from "./opencode/bed.ts";

export const BENCHMARKS = [
  "background-task",
  "many-tasks",
  "panel",
  "status-api",
  "postgres-writes",
  "postgres-runs",
  "postgres-events",
  "stored-tasks",
  "live-tasks",
] as const;

/** The parts of the status API benchmark in run order: the first needs a store that nobody has written to. */
export const PARTS = ["start", "list", "events"] as const;

export type Part = (typeof PARTS)[number];

export type Benchmark = (typeof BENCHMARKS)[number];

export type Arguments =
  | { type: "run"; benchmarks: Benchmark[]; on: Mode[]; pairs: number; warmUps: number; parts: Part[]; quick: boolean }
  | { type: "help" }
  | { type: "wrong"; problem: string };

const PAIRS = 30;
const QUICK_PAIRS = 2;
const MAX_PAIRS = 1_000;
const WARM_UPS = 4;
const QUICK_WARM_UPS = 1;

export const HELP = `Usage: npm run bench -- [name …] [--quick] [--on tui|serve|both] [--pairs N] [--warm-ups N] [--part start|list|events|all]

Runs the benchmarks side by side with what they are compared with, in one run, and prints ratios. All of them without a name.

  background-task   asyncagents and OpenCode's own background \`task\`, in one real OpenCode with a scripted model:
                    the launching call, the time until the parent is told, and the bytes in the parent's context
  many-tasks        the same two, 60 tasks launched in one answer of the model, on \`opencode serve\`: the launching turn, and
                    the time until the parent has been told of all of them
  panel             OpenCode's TUI with the panel and without it: its start until the prompt is drawn, and the processor time of a
                    screen in which nothing happens
  status-api        the status API on a store of 100,000 tasks: lists, search and events against servers of plain
                    Bun.serve, and the plugin's start against its start with an empty store
  postgres-writes   eight writers on a real PostgreSQL against the same statements under one lock, directly and with
                    2 ms of network
  postgres-runs     tasks through the queue and the engine on a real PostgreSQL against jobs through bare pg-boss,
                    directly and with 2 ms of network
  postgres-events   a change from its commit on one server to the event stream of another one, on a real PostgreSQL, against
                    bare NOTIFY and LISTEN
  stored-tasks      lists, searches and the start of a server on a real PostgreSQL with 1,000,000 tasks, against 100,000
  live-tasks        10,000 live scripted tasks in one runner on a real PostgreSQL: memory of each, and the events that arrive at
                    the stream of another process

  --quick           small sizes: a trial of the benchmarks themselves, not a result

of background-task and panel:
  --on MODE         of background-task: tui: OpenCode's TUI, as people use it; serve: headless, over HTTP; both, one after the other (both)
  --pairs N         interleaved pairs to measure in each mode (${PAIRS})
  --warm-ups N      pairs to run before and throw away (${WARM_UPS})
of status-api:
  --part PART       start: of the plugin; list: lists and search; events: the streams; all of them (all)

  --help            this text

The figures are also written to .test-report/bench.json.
Exit code: 0 when every figure is within its limit, 1 when one is not, 2 for wrong arguments.`;

export function readArguments(args: readonly string[]): Arguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        on: { type: "string" },
        pairs: { type: "string" },
        "warm-ups": { type: "string" },
        part: { type: "string" },
        quick: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help) return { type: "help" };
    const unknown = positionals.find((name) => !isBenchmark(name));
    if (unknown !== undefined) throw new Error(`There is no benchmark "${unknown}". Known: ${BENCHMARKS.join(", ")}.`);
    const named = positionals.filter(isBenchmark);
    const quick = values.quick ?? false;
    return {
      type: "run",
      benchmarks: named.length > 0 ? [...new Set(named)] : [...BENCHMARKS],
      on: chosen("--on", values.on, MODES, "both"),
      pairs: wholeNumber("--pairs", values.pairs, { least: 1, otherwise: quick ? QUICK_PAIRS : PAIRS }),
      warmUps: wholeNumber("--warm-ups", values["warm-ups"], {
        least: 0,
        otherwise: quick ? QUICK_WARM_UPS : WARM_UPS,
      }),
      parts: chosen("--part", values.part, PARTS, "all"),
      quick,
    };
  } catch (thrown) {
    return { type: "wrong", problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

function isBenchmark(name: string): name is Benchmark {
  return (BENCHMARKS as readonly string[]).includes(name);
}

/** The named one, or all of them. */
function chosen<T extends string>(name: string, text: string | undefined, known: readonly T[], every: string): T[] {
  const found = known.filter((each) => text === undefined || text === every || text === each);
  if (found.length > 0) return found;
  throw new Error(`${name} must be ${known.join(", ")} or ${every}, not "${text}".`);
}

function wholeNumber(name: string, text: string | undefined, range: { least: number; otherwise: number }): number {
  if (text === undefined) return range.otherwise;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= range.least && value <= MAX_PAIRS) return value;
  throw new Error(`${name} must be a whole number from ${range.least} to ${MAX_PAIRS}, not "${text}".`);
}
