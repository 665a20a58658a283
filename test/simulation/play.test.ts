/**
 * A short run of the simulation: the whole system, with every kind of fault, in a few seconds. `npm run simulate` plays
 * as many seeds as one likes.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { play } from "../../simulation/scenario/play.ts";
import { FAULTS } from "../../simulation/world/faults.ts";
import { SharedDatabase } from "../../simulation/world/shared-database.ts";

let database: SharedDatabase;
beforeAll(async () => {
  database = await SharedDatabase.open();
});
afterAll(() => database.close());

const LONG = 120_000;

const SEEDS = 60;

test(
  "sixty seeds with all faults: every promise is kept, and every kind of fault happened",
  async () => {
    const failed: string[] = [];
    const happened = new Set<string>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { violations, faults } = await play({ seed, database });
      for (const kind of faults.keys()) happened.add(kind);
      failed.push(...violations.map((violation) => `seed ${seed}: ${violation}`));
    }
    expect(failed).toEqual([]);
    expect([...happened].sort()).toEqual(Object.keys(FAULTS).sort());
  },
  LONG,
);

describe("a seed", () => {
  test("played twice gives the same history, whatever was played in between", async () => {
    const first = await play({ seed: 11, database, keepHistory: true });
    await play({ seed: 12, database });
    const second = await play({ seed: 11, database, keepHistory: true });
    expect(second.history).toEqual(first.history);
    expect(second.steps).toBe(first.steps);
    expect([...second.faults]).toEqual([...first.faults]);
  }, 30_000);

  test("plays alike whether its history is kept or not", async () => {
    const kept = await play({ seed: 14, database, keepHistory: true });
    const plain = await play({ seed: 14, database });
    expect([plain.steps, plain.history.length]).toEqual([kept.steps, 0]);
  }, 30_000);

  test("differs from another one", async () => {
    const one = await play({ seed: 11, database, keepHistory: true });
    const other = await play({ seed: 13, database, keepHistory: true });
    expect(other.history).not.toEqual(one.history);
  }, 30_000);

  test("without any fault and any action does almost nothing, and keeps every promise", async () => {
    const calm = new Set(Object.keys(FAULTS));
    const { planned } = await play({ seed: 11, database, calm });
    const without = new Set(Array.from({ length: planned }, (_, index) => index));
    const { violations, faults, actions } = await play({ seed: 11, database, calm, without });
    expect([violations, faults.size, actions.size]).toEqual([[], 0, 0]);
  }, 30_000);

  test("that takes more steps than allowed fails", async () => {
    const { violations } = await play({ seed: 11, database, maxSteps: 50 });
    expect(violations).toContain("it did not come to rest in 50 steps");
  }, 30_000);
});
