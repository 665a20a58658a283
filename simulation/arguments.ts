/** The arguments of `npm run simulate`. */
import { parseArgs } from "node:util";

export const HELP = `Usage: npm run simulate -- [--seeds N] [--seed S] [--minutes N] [--calm KIND,…] [--without N,…] [--history]

Plays random histories of several processes on one simulated machine, with the real engine, store, outbox and recovery,
and checks that nothing was lost, told twice or reported wrongly. The same seed always gives the same history.

  --seeds N       how many seeds to play (200)
  --seed S        the first seed (1); alone, only this one is played, with its history if it fails
  --minutes N     stop after that time
  --calm KINDS    kinds of faults that do not happen, separated by commas
  --without N,…   actions to leave out, by number, as a shrunk seed says
  --history       print the history of a single seed also if nothing is wrong
  --no-shrink     do not look for a shorter form of a seed that fails
  --keep-going    play the other seeds when one fails
  --help          this text

Exit code: 0 when nothing was wrong, 1 when a seed failed, 2 for wrong arguments.`;

export interface SimulationArguments {
  seeds: number;
  seed: number;
  minutes: number | null;
  calm: ReadonlySet<string>;
  without: ReadonlySet<number>;
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
      calm: { type: "string", default: "" },
      without: { type: "string", default: "" },
      history: { type: "boolean", default: false },
      "no-shrink": { type: "boolean", default: false },
      "keep-going": { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const list = (text: string) => text.split(",").filter((part) => part !== "");
  return {
    seeds: whole("--seeds", values.seeds) ?? (values.seed === undefined ? 200 : 1),
    seed: whole("--seed", values.seed) ?? 1,
    minutes: whole("--minutes", values.minutes),
    calm: new Set(list(values.calm)),
    without: new Set(list(values.without).map(Number)),
    history: values.history,
    shrink: !values["no-shrink"],
    keepGoing: values["keep-going"],
    help: values.help,
  };
}

function whole(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} must be a whole number, not ${JSON.stringify(text)}.`);
  return Number(text);
}
