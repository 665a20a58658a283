/** How long an agent without a run is stopped again and again, by the pauses that it asks the clock for. */
import { expect, test } from "bun:test";
import type { EngineContext } from "../../../src/engine/context.ts";
import { Leftovers } from "../../../src/engine/runs/leftovers.ts";

interface Tried {
  pauses: number[];
  aborts: number;
}

/** Tries to stop a session at a host that fails so often, until nothing is tried any more. */
async function stopped(failures: number): Promise<Tried> {
  const tried: Tried = { pauses: [], aborts: 0 };
  let again: (() => void) | null = null;
  const context = {
    host: {
      abort: async () => {
        if (++tried.aborts <= failures) throw new Error("the host did not answer");
      },
    },
    log: { info() {}, error() {} },
    after(ms: number, work: () => void) {
      tried.pauses.push(ms);
      again = work;
      return () => {};
    },
  } as unknown as EngineContext;
  const leftovers = new Leftovers(context, () => false);
  leftovers.stop("ses_1", "msg_1");
  for (;;) {
    await new Promise(setImmediate);
    if (again === null) return tried;
    const work: () => void = again;
    again = null;
    work();
  }
}

test("a host that is away for long is asked again, at most once a minute, until it stops the agent", async () => {
  const { pauses, aborts } = await stopped(100);
  expect(aborts).toBe(101);
  expect(pauses.slice(0, 9)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(Math.max(...pauses)).toBe(60_000);
});

test("after about a day it is left alone", async () => {
  const { pauses, aborts } = await stopped(Number.POSITIVE_INFINITY);
  expect(aborts).toBe(1_440);
  const hours = pauses.reduce((sum, ms) => sum + ms, 0) / 3_600_000;
  expect(Math.round(hours)).toBe(24);
});
