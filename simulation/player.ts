/**
 * Plays seeds one after another in a process of its own, for `--jobs`. Standard input has the task as one line of JSON;
 * standard output gets one line for each seed.
 */
import { type Played, play } from "./scenario/play.ts";
import { SharedDatabase } from "./world/shared-database.ts";

/** The seeds `from`, `from + step`, … below `until`. */
export interface PlayerTask {
  from: number;
  until: number;
  step: number;
  calm: string[];
  without: number[];
  stormMs?: number;
  maxSteps?: number;
}

/** What is told about one seed. */
export interface PlayedSeed {
  seed: number;
  steps: number;
  violations: string[];
  faults: [string, number][];
  actions: [string, number][];
}

export function playedSeed(seed: number, { steps, violations, faults, actions }: Played): PlayedSeed {
  return { seed, steps, violations, faults: [...faults], actions: [...actions] };
}

export async function* playSeeds(task: PlayerTask): AsyncGenerator<PlayedSeed> {
  const { from, until, step, calm, without, ...options } = task;
  const database = await SharedDatabase.open();
  try {
    for (let seed = from; seed < until; seed += step) {
      const played = await play({ ...options, seed, database, calm: new Set(calm), without: new Set(without) });
      yield playedSeed(seed, played);
    }
  } finally {
    database.close();
  }
}

if (import.meta.main) {
  // Ctrl-C reaches all processes of a terminal; the one that started this one decides when it ends.
  process.on("SIGINT", () => {});
  const task: PlayerTask = JSON.parse(await Bun.stdin.text());
  for await (const played of playSeeds(task)) {
    // Whoever started this one was killed.
    if (process.ppid === 1) break;
    process.stdout.write(`${JSON.stringify(played)}\n`);
  }
}
