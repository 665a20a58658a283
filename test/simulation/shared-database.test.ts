import { expect, test } from "bun:test";
import { Random } from "../../simulation/time/random.ts";
import { Timeline } from "../../simulation/time/timeline.ts";
import { FAULTS, Faults } from "../../simulation/world/faults.ts";
import { SharedDatabase } from "../../simulation/world/shared-database.ts";
import { SimulatedProcess } from "../../simulation/world/simulated-process.ts";
import { kyselyStore } from "../../src/store/kysely-store.ts";
import type { Parent } from "../../src/store/store.ts";

async function twoProcesses() {
  const database = await SharedDatabase.open();
  const timeline = new Timeline();
  const random = new Random(1);
  const calm = new Faults(random, new Set(Object.keys(FAULTS)));
  const open = (pid: number) => {
    const process = new SimulatedProcess({ role: "program", pid, place: "" }, timeline, { skew: 0 });
    return { process, store: kyselyStore(database.driver(process, random, calm, () => 0)) };
  };
  const finish = async (ms = 100_000) => {
    const until = timeline.now + ms;
    while (await timeline.step(until));
  };
  return { database, timeline, one: open(1), other: open(2), finish };
}

function parent(sessionId: string): Parent {
  return {
    sessionId,
    handler: null,
    agent: null,
    model: null,
    variant: null,
    seenAt: 1,
    host: "opencode",
    machine: "",
  };
}

test("a process that freezes in a transaction keeps others from writing, not from reading", async () => {
  const { database, timeline, one, other, finish } = await twoProcesses();
  const said: string[] = [];
  one.process.strikeInTransaction(() => {
    one.process.freeze();
    timeline.schedule(60_000, () => one.process.thaw());
  });
  void one.store.putParent(parent("one")).then(() => said.push(`one wrote at ${timeline.now >= 60_000}`));
  await finish(1_000);
  void other.store.putParent(parent("other")).catch((thrown: Error) => said.push(thrown.message));
  void other.store.parent("one").then((found) => said.push(`other read ${found}`));
  await finish();
  expect(said[0]).toBe("other read null");
  expect(said[1]).toContain("database is locked");
  expect(said[2]).toBe("one wrote at true");
  expect(await database.truth().parent("one")).not.toBeNull();
  expect(await database.truth().parent("other")).toBeNull();
  database.close();
});

test("a process that dies in a transaction has written nothing, and its lock is free", async () => {
  const { database, one, other, finish } = await twoProcesses();
  one.process.strikeInTransaction(() => one.process.die());
  void one.store.putParent(parent("one"));
  await finish();
  void other.store.putParent(parent("other"));
  await finish();
  expect(await database.truth().parent("one")).toBeNull();
  expect(await database.truth().parent("other")).not.toBeNull();
  database.close();
});

test("what is remembered is forgotten as soon as somebody writes or rolls back", async () => {
  const { database, one, other, finish } = await twoProcesses();
  const seen: (string | undefined)[] = [];
  const look = () => void other.store.parent("one").then((found) => seen.push(found?.agent ?? undefined));
  for (const agent of ["build", "plan"]) {
    look();
    await finish();
    void one.store.putParent({ ...parent("one"), agent });
    await finish();
    look();
    look();
    await finish();
  }
  const failing = one.store.write(async (transaction) => {
    await transaction.putParent({ ...parent("one"), agent: "lost" });
    throw new Error("rolled back");
  });
  failing.catch(() => {});
  await finish();
  look();
  await finish();
  expect(seen).toEqual([undefined, "build", "build", "build", "plan", "plan", "plan"]);
  database.close();
});
