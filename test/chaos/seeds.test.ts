/**
 * Seeds of the simulator on real programs: two OpenCodes with the plugin, killed and frozen while people and parents
 * act. `npm run chaos -- --choose 3000` chose them and gave the reasons; a seed means something else once the simulator
 * changes what it does by chance, and is then chosen anew.
 */
import { test } from "bun:test";
import { playReal } from "./seeds/play-real.ts";

const SEEDS: readonly { seed: number; why: string }[] = [
  { seed: 190, why: "many kills and prompts" },
  { seed: 5, why: "many kills and kinds of faults" },
];
/** How many of them `npm test` plays. */
const FEW = 2;
/** Long: a busy machine needs half a minute to start OpenCode, and a seed starts it up to ten times. */
const LIMIT_MS = 900_000;

for (const { seed, why } of chosen(process.env.ASYNCAGENTS_CHAOS_SEEDS)) {
  test(
    `seed ${seed} on real programs: ${why}`,
    async () => {
      const { seconds, kills, freezes, outcomes, leftOut } = await playReal(seed);
      const ends = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
      const left = [...leftOut].map(([what, times]) => `${what} (${times})`);
      console.log(`seed ${seed}: ${kills} kills, ${freezes} freezes; runs: ${ends.join(", ")}; ${seconds} s`);
      console.log(`  left out: ${left.join(", ")}`);
    },
    LIMIT_MS,
  );
}

/** All, those with the given numbers, or the first few. */
function chosen(given: string | undefined): typeof SEEDS {
  if (given === "all") return SEEDS;
  if (given === undefined) return SEEDS.slice(0, FEW);
  return given.split(",").map((text) => {
    const seed = Number(text);
    return { seed, why: SEEDS.find((known) => known.seed === seed)?.why ?? "as asked for" };
  });
}
