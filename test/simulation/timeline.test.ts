import { describe, expect, test } from "bun:test";
import nodeCrypto, { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../simulation/time/random.ts";
import { stopRealClocks } from "../../simulation/time/real-clocks.ts";
import { Timeline } from "../../simulation/time/timeline.ts";

async function finish(timeline: Timeline, until = Number.POSITIVE_INFINITY): Promise<void> {
  while (await timeline.step(until));
}

describe("the timeline", () => {
  test("does what is due in order of time, and equal times in the order of scheduling", async () => {
    const timeline = new Timeline();
    const done: string[] = [];
    for (const [name, ms] of [
      ["c", 20],
      ["a", 10],
      ["d", 20],
      ["b", 10],
    ] as const) {
      timeline.schedule(ms, () => done.push(`${name} at ${timeline.now}`));
    }
    await finish(timeline);
    expect(done).toEqual(["a at 10", "b at 10", "c at 20", "d at 20"]);
    expect(timeline.steps).toBe(4);
  });

  test("everything that follows from a step without waiting is done before the next", async () => {
    const timeline = new Timeline();
    const done: string[] = [];
    timeline.schedule(1, async () => {
      for (let i = 0; i < 50; i++) await null;
      done.push("follows");
    });
    timeline.schedule(1, () => done.push("next"));
    await finish(timeline);
    expect(done).toEqual(["follows", "next"]);
  });

  test("what was cancelled is not done, and takes no step", async () => {
    const timeline = new Timeline();
    timeline.schedule(1, () => {
      throw new Error("It was cancelled.");
    })();
    await finish(timeline);
    expect(timeline.steps).toBe(0);
  });

  test("it stops before what is later, and the time passes nevertheless", async () => {
    const timeline = new Timeline();
    timeline.schedule(100, () => {});
    await finish(timeline, 60);
    expect([timeline.now, timeline.steps, timeline.size]).toEqual([60, 0, 1]);
  });
});

describe("random choices", () => {
  const choices = (random: Random) => Array.from({ length: 20 }, () => random.whole(0, 1_000_000));

  test("the same seed gives the same, another seed others", () => {
    expect(choices(new Random(7))).toEqual(choices(new Random(7)));
    expect(choices(new Random(7))).not.toEqual(choices(new Random(8)));
  });

  test("a stream that is split off by name is not disturbed by others", () => {
    const [one, other] = [new Random(7), new Random(7)];
    choices(one.split("noise"));
    expect(choices(one.split("a"))).toEqual(choices(other.split("a")));
    expect(choices(one.split("a"))).not.toEqual(choices(one.split("b")));
  });

  test("choices stay within their limits, and reach them", () => {
    const random = new Random(1);
    const seen = new Set(Array.from({ length: 1_000 }, () => random.whole(3, 6)));
    expect([...seen].sort()).toEqual([3, 4, 5, 6]);
    expect(Array.from({ length: 1_000 }, () => random.delay(50)).every((ms) => ms >= 0 && ms < 50)).toBe(true);
  });
});

describe("the clocks of the real machine", () => {
  test("whoever uses one while they are stopped gets an error, and it is written down", () => {
    const clocks = stopRealClocks();
    try {
      expect(() => Date.now()).toThrow("now is not there in a simulation");
      expect(() => setTimeout(() => {}, 1)).toThrow("setTimeout");
      expect(() => Math.random()).toThrow("random");
      expect(() => crypto.randomUUID()).toThrow("randomUUID");
    } finally {
      clocks.restore();
    }
    expect(clocks.uses).toHaveLength(4);
    expect(Date.now()).toBeGreaterThan(0);
    clearTimeout(setTimeout(() => {}, 1));
  });

  test.each<[name: string, use: () => unknown]>([
    ["new Date()", () => String(new Date())],
    ["Date()", () => Date()],
    ["nanoseconds", () => Bun.nanoseconds()],
    ["sleep", () => Bun.sleep(1)],
    ["hrtime", () => process.hrtime()],
    ["uptime", () => process.uptime()],
    ["timeout", () => AbortSignal.timeout(1)],
    ["getRandomValues", () => crypto.getRandomValues(new Uint8Array(1))],
    ["randomUUID", () => randomUUID()],
    ["randomBytes", () => nodeCrypto.randomBytes(1)],
    ["setTimeout", () => pause(1)],
  ])("%s is one of them", async (name, use) => {
    const clocks = stopRealClocks();
    try {
      expect(use).toThrow(`${name} is not there in a simulation`);
    } finally {
      clocks.restore();
    }
    expect(clocks.uses).toHaveLength(1);
    await use();
  });

  test("a date of a given time is no use of a clock", () => {
    const clocks = stopRealClocks();
    const date = new Date(5);
    clocks.restore();
    expect(date).toBeInstanceOf(Date);
    expect(date.toISOString()).toBe("1970-01-01T00:00:00.005Z");
    expect(clocks.uses).toEqual([]);
  });
});
