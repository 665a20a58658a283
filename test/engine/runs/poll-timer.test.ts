import { expect, test } from "bun:test";
import { DEFAULT_SETTINGS } from "../../../src/engine/context.ts";
import { PollTimer } from "../../../src/engine/runs/poll-timer.ts";
import { systemClock } from "../../../src/process/clock.ts";

/** A timer whose polls a test can wait for, and whose clock it can set. */
function timed(pollMs: number) {
  const clock = { now: 0 };
  let polls = 0;
  let polled = Promise.withResolvers<void>();
  const context = { settings: { ...DEFAULT_SETTINGS, pollMs }, monotonic: () => clock.now, after: systemClock.after };
  const timer = new PollTimer(context, async () => {
    polls++;
    polled.resolve();
    polled = Promise.withResolvers();
  });
  return { timer, clock, next: () => polled.promise, count: () => polls };
}

test("a poll requested soon comes immediately, and once; the next not before its time", async () => {
  const { timer, next, count } = timed(20);
  timer.later();
  timer.soon();
  timer.soon();
  timer.later();
  await next();
  expect(count()).toBe(1);
  const began = performance.now();
  timer.soon();
  await next();
  expect(performance.now() - began).toBeGreaterThanOrEqual(19);
});

test("a poll long ago does not delay the next one", async () => {
  const { timer, clock, next, count } = timed(3_600_000);
  timer.soon();
  await next();
  clock.now += 3_600_000;
  timer.soon();
  await next();
  expect(count()).toBe(2);
});

test("once stopped, nothing is polled any more, whatever is requested", async () => {
  const { timer, count } = timed(1);
  timer.later();
  timer.stop();
  timer.later();
  timer.soon();
  await Bun.sleep(10);
  expect(count()).toBe(0);
});
