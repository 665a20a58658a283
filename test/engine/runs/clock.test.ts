/** Durations do not depend on the wall clock: it may be set, and the machine may sleep. */
import { expect, test } from "bun:test";
import { gate, say } from "../../../src/hosts/scripted/script.ts";
import { DEFAULT_LIMITS } from "../../../src/model/limits.ts";
import { awakeClock } from "../../../src/process/awake-clock.ts";
import { ended, heard, launch, newWorld, polls, when, without } from "../engine-bed.ts";

const HOUR = 3_600_000;

test("eight hours of sleep neither use up a run's time limit nor make it stalled", async () => {
  const world = newWorld();
  const limits = { ...DEFAULT_LIMITS, stallMs: HOUR, runMs: HOUR };
  const side = await world.side({ settings: { pollMs: 5, limits } });
  const task = await launch(side, world.parent(), world.script(gate("slept"), say("awake")));
  await side.host.gate("slept").reachedBy(1);
  await when(side, task, ({ phase }) => phase === "working");
  world.jump(8 * HOUR);
  await polls(side, 3);
  expect(await side.store.task(task.id)).toMatchObject({ status: "running", phase: "working" });
  side.host.gate("slept").open();
  expect(await ended(side, task)).toMatchObject({ status: "completed", run: { result: "awake" } });
});

test("a clock that is set back does not stop the polling", async () => {
  const world = newWorld();
  const side = await world.side({ host: without("session.idle"), settings: { pollMs: 5 } });
  const task = await launch(side, world.parent(), world.script(gate("held"), say("found")));
  await side.host.gate("held").reachedBy(1);
  await polls(side, 2);
  world.jump(-HOUR);
  await polls(side, 2);
  side.host.gate("held").open();
  expect(await ended(side, task)).toMatchObject({ status: "completed", run: { result: "found" } });
});

test("nor does it after an idle that needs a closer look", async () => {
  const world = newWorld();
  const words = heard();
  const side = await world.side({ host: words.host, settings: { pollMs: 5 } });
  const task = await launch(side, world.parent(), world.script(gate("held"), say("found")));
  await side.host.gate("held").reachedBy(1);
  await polls(side, 2);
  world.jump(-HOUR);
  words.emit({ type: "session.idle", sessionId: task.sessionId });
  await polls(side, 3);
  expect(await side.store.task(task.id)).toMatchObject({ status: "running" });
});

test("the monotonic clock counts a sleep as a minute at most, and never goes back", () => {
  let machine = 1_000;
  const clock = awakeClock(() => machine);
  const began = clock();
  machine += 30_000;
  expect(clock() - began).toBe(30_000);
  machine += 8 * HOUR;
  expect(clock() - began).toBe(90_000);
  machine -= HOUR;
  expect(clock() - began).toBe(90_000);
  machine += 10;
  expect(clock() - began).toBe(90_010);
});
