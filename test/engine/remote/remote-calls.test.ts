/** What a caller is told while the store does not answer. */
import { expect, test } from "bun:test";
import { RemoteCalls } from "../../../src/engine/remote/remote-calls.ts";
import { systemClock } from "../../../src/process/clock.ts";
import type { Instance, Store } from "../../../src/store/store.ts";

test("a caller is told in time although the call is still being stored, and nothing is rejected unheard", async () => {
  const stored = Promise.withResolvers<boolean>();
  const store = {
    calls: { ask: () => stored.promise, remove: async () => null },
    instances: () => Promise.reject(new Error("the database cannot be reached")),
    onChange: () => () => {},
  } as unknown as Store;
  const calls = new RemoteCalls({
    ...systemClock,
    store,
    log: { info() {}, error() {} },
    newId: () => "call_1",
    isAlive: () => true,
    patience: { claimMs: 5, answerMs: 10, checkMs: 5 },
  });
  const unheard: unknown[] = [];
  const hear = (thrown: unknown) => unheard.push(thrown);
  process.on("unhandledRejection", hear);
  const to = { id: "ins_1", pid: 1, host: "scripted", directory: "/" } as Instance;
  const failed = await calls
    .call(to, { operation: "answer", input: {}, madeBy: "test" })
    .catch((thrown: unknown) => thrown);
  expect(failed).toMatchObject({ code: "outcome_unknown" });
  stored.reject(new Error("the database cannot be reached"));
  await new Promise(setImmediate);
  process.off("unhandledRejection", hear);
  expect(unheard).toEqual([]);
});
