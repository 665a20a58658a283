/**
 * Seeds of the simulator on real programs: two OpenCodes with the plugin, killed and frozen while people and parents
 * act. `npm run chaos -- --choose 3000` chose them, with the reasons. Their plans are kept: a seed means something else
 * whenever the simulator changes what it does by chance.
 */
import { test } from "bun:test";
import type { Plan } from "../../simulation/scenario/plan.ts";
import { playReal, simulatedPlan } from "./seeds/play-real.ts";

const PLANS = await Bun.file(`${import.meta.dir}/seeds/plans.jsonl`).text();
const CHOSEN: { why: string; plan: Plan }[] = PLANS.trim()
  .split("\n")
  .map((line) => JSON.parse(line));
/** Long: a busy machine needs half a minute to start OpenCode, and a seed starts it up to ten times. */
const LIMIT_MS = 900_000;

for (const { seed, why, plan } of wanted(process.env.ASYNCAGENTS_CHAOS_SEEDS)) {
  test(
    `seed ${seed} on real programs: ${why}`,
    async () => {
      const { seconds, kills, freezes, outcomes, leftOut } = await playReal(await plan());
      const ends = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
      const left = [...leftOut].map(([what, times]) => `${what} (${times})`);
      console.log(`seed ${seed}: ${kills} kills, ${freezes} freezes; runs: ${ends.join(", ")}; ${seconds} s`);
      console.log(`  left out: ${left.join(", ")}`);
    },
    LIMIT_MS,
  );
}

/** All that were chosen, or those with the given numbers (others as the simulator plays them now). */
function wanted(given = "all"): { seed: number; why: string; plan: () => Promise<Plan> }[] {
  const chosen = CHOSEN.map(({ why, plan }) => ({ seed: plan.seed, why, plan: async () => plan }));
  if (given === "all") return chosen;
  return given.split(",").map((text) => {
    const seed = Number(text);
    const known = chosen.find((each) => each.seed === seed);
    return known ?? { seed, why: "as asked for", plan: () => simulatedPlan(seed) };
  });
}
