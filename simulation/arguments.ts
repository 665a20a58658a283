/** The arguments of `npm run simulate`. */
import { parseArgs } from "node:util";
import { FAULTS } from "./world/faults.ts";

export const HELP = `Usage: npm run simulate -- [--seeds N] [--seed S] [options]

Plays random histories of several processes on one simulated machine, with the real engine, store, outbox and recovery,
and checks that nothing was lost, told twice or reported wrongly. The same seed always gives the same history.

  --seeds N       how many seeds to play (200)
  --seed S        the first seed (1); alone, only this one is played
  --minutes N     stop after that time
  --jobs N        play in N processes at once (1)
  --steps N       a seed that takes more steps fails (200000)
  --keep-going    play the other seeds when one fails

To look at one seed, or to play the short form of a seed that failed:

  --history       print its whole history, also if nothing is wrong
  --calm KINDS    kinds of faults that do not happen, separated by commas
  --without N,…   actions and disasters to leave out, by number
  --storm MS      end the storm after that much virtual time (300000)
  --no-shrink     do not look for a shorter form of a seed that fails
  --help          this text

Kinds of faults: ${Object.keys(FAULTS).join(", ")}.

Exit code: 0 when nothing was wrong, 1 when a seed failed, 2 for wrong arguments. Ctrl-C prints the summary so far.`;

const MOST_JOBS = 64;

export interface SimulationArguments {
  seeds: number;
  seed: number;
  minutes: number | null;
  jobs: number;
  steps: number | null;
  calm: ReadonlySet<string>;
  without: ReadonlySet<number>;
  storm: number | null;
  history: boolean;
  shrink: boolean;
  keepGoing: boolean;
  help: boolean;
}

/** Throws with a message for people if they are wrong. */
export function readArguments(args: readonly string[]): SimulationArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string" },
      seed: { type: "string" },
      minutes: { type: "string" },
      jobs: { type: "string" },
      steps: { type: "string" },
      calm: { type: "string", default: "" },
      without: { type: "string", default: "" },
      storm: { type: "string" },
      history: { type: "boolean", default: false },
      "no-shrink": { type: "boolean", default: false },
      "keep-going": { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const seeds = whole("--seeds", values.seeds, 1) ?? (values.seed === undefined ? 200 : 1);
  const jobs = whole("--jobs", values.jobs, 1) ?? 1;
  if (jobs > MOST_JOBS) throw new Error(`--jobs must be at most ${MOST_JOBS}.`);
  if (values.history && seeds > 1) throw new Error("--history is for one seed: name it with --seed, without --seeds.");
  return {
    seeds,
    seed: whole("--seed", values.seed) ?? 1,
    minutes: whole("--minutes", values.minutes, 1),
    jobs: Math.min(jobs, seeds),
    steps: whole("--steps", values.steps),
    calm: new Set(list(values.calm).map(knownKind)),
    without: new Set(list(values.without).map((text) => whole("--without", text) ?? 0)),
    storm: whole("--storm", values.storm),
    history: values.history,
    shrink: !values["no-shrink"],
    keepGoing: values["keep-going"],
    help: values.help,
  };
}

function list(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function knownKind(kind: string): string {
  if (!Object.keys(FAULTS).includes(kind)) throw new Error(`There is no fault ${JSON.stringify(kind)}.`);
  return kind;
}

function whole(name: string, text: string | undefined, least = 0): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new Error(`${name} must be a whole number from ${least} on, not ${JSON.stringify(text)}.`);
}
