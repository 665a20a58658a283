/** What a runner tells whoever watches it while its store is away. */
import { expect, test } from "bun:test";
import { RunnerNotes } from "../../../src/engine/queue/runner-notes.ts";
import type { RunnerRecord } from "../../../src/store/runners/records.ts";
import type { Store } from "../../../src/store/store.ts";

test("a store that is away, and one that is back, are said once each", async () => {
  let isAway = false;
  let beat: () => void = () => {};
  const said: string[] = [];
  const put = () => (isAway ? Promise.reject(new Error("connection refused")) : Promise.resolve());
  const notes = new RunnerNotes({
    now: () => 0,
    monotonic: () => 0,
    after(_ms, work) {
      beat = work;
      return () => {};
    },
    store: { runners: { put } } as unknown as Store,
    log: { info() {}, error() {} },
    current: () => ({ id: "run_1" }) as RunnerRecord,
    onEntries: () => () => {},
    say: (line) => said.push(line),
  });
  const beats = async (times: number) => {
    for (let count = 0; count < times; count++) {
      beat();
      await new Promise(setImmediate);
    }
  };
  await notes.start();
  await beats(2);
  expect(said).toEqual([]);
  isAway = true;
  await beats(3);
  isAway = false;
  await beats(3);
  expect(said).toEqual([
    "The store does not answer, and the runner claims nothing until it does. connection refused",
    "The store is back. The runner goes on.",
  ]);
});
