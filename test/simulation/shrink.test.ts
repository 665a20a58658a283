import { expect, test } from "bun:test";
import { type Played, type PlayOptions, play } from "../../simulation/scenario/play.ts";
import { shrink } from "../../simulation/scenario/shrink.ts";
import { FAULTS } from "../../simulation/world/faults.ts";
import { SharedDatabase } from "../../simulation/world/shared-database.ts";

/** A seed of which only this matters: moments 3 and 17, with slow queries, within the first 40 seconds. */
async function pretend({ calm, without, stormMs = 300_000 }: PlayOptions): Promise<Played> {
  const isWrong = !without?.has(3) && !without?.has(17) && !calm?.has("query is slow") && stormMs >= 40_000;
  const violations = isWrong ? [`task ses_${without?.size ?? 0} never ended`] : [];
  return { violations, history: [], faults: new Map(), actions: new Map(), steps: 1, planned: 24, plan: null as never };
}

test("finds the little that a failure needs", async () => {
  const options = { seed: 1, database: null as never };
  const { shorter, played, tries } = await shrink(options, await pretend(options), pretend);
  expect([...shorter.calm].sort()).toEqual(
    Object.keys(FAULTS)
      .filter((kind) => kind !== "query is slow")
      .sort(),
  );
  expect(shorter.without.size).toBe(22);
  expect([shorter.without.has(3), shorter.without.has(17)]).toEqual([false, false]);
  expect(shorter.stormMs).toBeLessThan(60_000);
  expect(played.violations).toEqual(["task ses_22 never ended"]);
  expect(tries).toBeLessThan(250);
});

test("does not take another failure for the same one", async () => {
  const options = { seed: 1, database: null as never };
  const other = async (tried: PlayOptions) => {
    const result = await pretend(tried);
    return result.violations.length > 0 ? result : { ...result, violations: ["something else"] };
  };
  const { played } = await shrink(options, await other(options), other);
  expect(played.violations[0]).toEndWith("never ended");
});

test("a real seed that fails a check becomes shorter, and replays exactly", async () => {
  const database = await SharedDatabase.open();
  // A check that fails whenever somebody launches three tasks at once.
  const failing = async (options: PlayOptions): Promise<Played> => {
    const played = await play(options);
    const isWrong = (played.actions.get("a parent launches three tasks at once") ?? 0) > 0;
    return { ...played, violations: isWrong ? ["three at once"] : [] };
  };
  let options: PlayOptions = { seed: 1, database };
  let first = await failing(options);
  for (let seed = 2; first.violations.length === 0; seed++) {
    options = { seed, database };
    first = await failing(options);
  }
  const { shorter, played } = await shrink(options, first, failing);
  expect([...played.actions.keys()]).toEqual(["a parent launches three tasks at once"]);
  const again = await failing({ ...options, ...shorter });
  expect([again.steps, again.violations]).toEqual([played.steps, played.violations]);
  database.close();
}, 60_000);
