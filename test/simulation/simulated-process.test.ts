import { describe, expect, test } from "bun:test";
import { Timeline } from "../../simulation/time/timeline.ts";
import { SimulatedProcess } from "../../simulation/world/simulated-process.ts";

function start() {
  const timeline = new Timeline();
  const wall = { skew: 0 };
  const process = new SimulatedProcess({ role: "program", pid: 1, place: "" }, timeline, wall);
  const done: string[] = [];
  const finish = async (until = 1_000_000) => {
    while (await timeline.step(until));
  };
  /** Waits three times, and says so each time. */
  const work = async () => {
    for (const name of ["one", "two", "three"]) {
      await process.settle(10, () => {});
      done.push(name);
    }
  };
  return { timeline, wall, process, done, finish, work };
}

describe("a simulated process", () => {
  test("dies at the wait that the strike names: nothing of it runs afterwards", async () => {
    const { process, done, finish, work } = start();
    process.strike(2, () => process.die());
    process.after(15, () => done.push("timer"));
    process.after(25, () => done.push("timer after death"));
    void work();
    await finish();
    expect(done).toEqual(["one", "timer"]);
    expect(process.isAlive).toBe(false);
  });

  test("freezes, and afterwards does everything in order, each as a step of its own", async () => {
    const { timeline, process, done, finish, work } = start();
    process.after(15, () => done.push(`timer at ${timeline.now}`));
    process.after(16, () => done.push(`timer at ${timeline.now}`));
    process.strike(2, () => {
      process.freeze();
      timeline.schedule(1_000, () => process.thaw());
    });
    void work();
    await finish(500);
    expect(done).toEqual(["one", "timer at 15", "timer at 16"]);
    await finish();
    expect(done.slice(3)).toEqual(["two", "three"]);
    expect(timeline.now).toBeGreaterThan(1_020);
  });

  test("freezes at the first of two things that are due at one time: they stay in order", async () => {
    const { timeline, process, done, finish } = start();
    process.strike(1, () => {
      process.freeze();
      timeline.schedule(1_000, () => process.thaw());
    });
    for (const name of ["one", "two"]) void process.settle(10, () => done.push(name));
    await finish();
    expect(done).toEqual(["one", "two"]);
  });

  test("timers that were due while it was frozen are called when it thaws", async () => {
    const { timeline, process, done, finish } = start();
    process.after(10, () => done.push(`first at ${timeline.now}`));
    process.after(20, () => done.push(`second at ${timeline.now}`));
    process.freeze();
    timeline.schedule(100, () => process.thaw());
    await finish();
    expect(done).toEqual(["first at 100", "second at 100"]);
    expect(process.timers).toBe(0);
  });

  test("a cancelled timer is not called and not counted", async () => {
    const { process, done, finish } = start();
    const cancel = process.after(10, () => done.push("timer"));
    expect(process.timers).toBe(1);
    cancel();
    cancel();
    await finish();
    expect([process.timers, done]).toEqual([0, []]);
  });

  test("a strike that was taken back does nothing", async () => {
    const { process, done, finish, work } = start();
    process.strike(1, () => process.die());
    process.strikeInTransaction(() => process.die());
    process.spare();
    void work();
    await finish();
    expect(done).toEqual(["one", "two", "three"]);
    expect(process.isStruckInTransaction()).toBe(false);
  });

  test("whoever sets the wall clock does not change how long things take", async () => {
    const { timeline, wall, process, finish } = start();
    const [wallBefore, before] = [process.now(), process.monotonic()];
    timeline.schedule(1_000, () => {
      wall.skew = -3_600_000;
    });
    await finish(2_000);
    expect(process.now() - wallBefore).toBe(2_000 - 3_600_000);
    expect(process.monotonic() - before).toBe(2_000);
  });

  test("a machine that slept for an hour was awake for a minute at most", async () => {
    const { process, finish } = start();
    process.monotonic();
    await finish(3_600_000);
    expect(process.monotonic()).toBe(60_000);
  });
});
