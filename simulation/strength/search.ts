/** Runs in a workshop's copy: plays seeds one after another, and prints a line of JSON about each. */
import { play } from "../scenario/play.ts";
import { SharedDatabase } from "../world/shared-database.ts";

export interface FailedSeed {
  seed: number;
  /** None if nothing was wrong. */
  violations: string[];
}

if (import.meta.main) {
  const [first = 1, seeds = 1] = process.argv.slice(2).map(Number);
  const database = await SharedDatabase.open();
  for (let seed = first; seed < first + seeds; seed++) {
    const { violations } = await play({ seed, database });
    process.stdout.write(`${JSON.stringify({ seed, violations } satisfies FailedSeed)}\n`);
  }
}
