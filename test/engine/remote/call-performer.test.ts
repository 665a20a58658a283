/** What a process that is asked does when the store answers late, or somebody gave up. */
import { expect, onTestFinished, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CallPerformer } from "../../../src/engine/remote/call-performer.ts";
import { systemClock } from "../../../src/process/clock.ts";
import { sqliteStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";

const log = { info() {}, error() {} };

interface Bed {
  store: Store;
  /** The operations that were begun. */
  begun: string[];
  ask(operation: string, madeBy?: string): Promise<unknown>;
}

/** Operations never end. `claim` replaces that of the store. */
async function performing(claim: (id: string, real: () => Promise<boolean>) => Promise<boolean>): Promise<Bed> {
  const directory = mkdtempSync(join(tmpdir(), "asyncagents-performer-"));
  const store = await sqliteStore({ directory });
  const begun: string[] = [];
  const calls = { ...store.calls, claim: (id: string, now: number) => claim(id, () => store.calls.claim(id, now)) };
  const performer = new CallPerformer({
    ...systemClock,
    store: { ...store, calls },
    log,
    instances: () => ["here"],
    perform(operation) {
      begun.push(operation);
      return new Promise(() => {});
    },
  });
  performer.start();
  onTestFinished(async () => {
    await performer.stop();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const ask = (operation: string, madeBy = "test") =>
    store.calls.ask(
      { id: operation, to: "here", operation, input: "{}", madeBy },
      { now: Date.now(), patience: 60_000 },
    );
  return { store, begun, ask };
}

async function until(look: () => boolean): Promise<void> {
  while (!look()) await Bun.sleep(5);
}

test("a call that was withdrawn while its claim was on the way is not performed", async () => {
  const claimed = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const bed = await performing(async (id, real) => {
    const isClaimed = await real();
    if (id !== "late") return isClaimed;
    claimed.resolve();
    await answered.promise;
    return isClaimed;
  });
  await bed.ask("late");
  await claimed.promise;
  expect(await bed.store.calls.remove("late", ["claimed"])).not.toBeNull();
  await Bun.sleep(1_100);
  answered.resolve();
  await bed.ask("next");
  await until(() => bed.begun.includes("next"));
  expect(bed.begun).toEqual(["next"]);
});

test("a call that waits for room begins as soon as there is some, whatever made it", async () => {
  const refused = Promise.withResolvers<boolean>();
  const claimed = Promise.withResolvers<void>();
  const bed = await performing((id, real) => {
    if (id !== "call-49") return real();
    claimed.resolve();
    return refused.promise;
  });
  for (let number = 0; number <= 50; number++) await bed.ask(`call-${String(number).padStart(2, "0")}`);
  await until(() => bed.begun.length === 49);
  await claimed.promise;
  await bed.store.calls.remove("call-49", ["asked"]);
  // Nothing is written from here on.
  await Bun.sleep(200);
  expect(bed.begun).not.toContain("call-50");
  refused.resolve(false);
  await until(() => bed.begun.includes("call-50"));
  expect(bed.begun).toHaveLength(50);
});

test("one who asks for more than is performed at once does not keep others waiting", async () => {
  const bed = await performing((_id, real) => real());
  for (let number = 0; number < 60; number++) await bed.ask(`read-${number}`, "reader");
  await until(() => bed.begun.length === 50);
  for (let number = 0; number < 6; number++) await bed.ask(`answer-${number}`, "answerer");
  const answers = () => bed.begun.filter((operation) => operation.startsWith("answer"));
  await until(() => answers().length === 5);
  await bed.ask("another's", "another");
  await until(() => bed.begun.includes("another's"));
  expect([answers().length, bed.begun.length]).toEqual([5, 56]);
});
