import { expect, test } from "bun:test";
import { Lull } from "../../../src/engine/runs/lull.ts";
import { systemClock } from "../../../src/process/clock.ts";

const NEVER = 60_000;

function launch(lull: Lull) {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { done: lull.during(() => promise), finish: resolve };
}

function held(lull: Lull) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let begun = false;
  lull.after(() => {
    begun = true;
    resolve();
  });
  return { begins: promise, hasBegun: () => begun };
}

test("deferred work starts when the last of the launches has returned", async () => {
  const lull = new Lull({ clock: systemClock, pauseMs: 0, longestMs: NEVER });
  const [first, second] = [launch(lull), launch(lull)];
  const work = held(lull);
  first.finish();
  await first.done;
  // A timer of the same length, set later, fires later: the pause after the first launch would be over.
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(work.hasBegun()).toBe(false);
  second.finish();
  await work.begins;
});

test("a failed launch delays nothing", async () => {
  const lull = new Lull({ clock: systemClock, pauseMs: 0, longestMs: NEVER });
  const work = held(lull);
  await expect(lull.during(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await work.begins;
});

test("deferred work eventually starts even while a launch hangs, and later work is deferred again", async () => {
  const lull = new Lull({ clock: systemClock, pauseMs: NEVER, longestMs: 0 });
  const hanging = launch(lull);
  await held(lull).begins;
  await held(lull).begins;
  hanging.finish();
  await hanging.done;
});

test("nothing starts after a stop", async () => {
  const lull = new Lull({ clock: systemClock, pauseMs: 0, longestMs: 0 });
  const work = held(lull);
  lull.stop();
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(work.hasBegun()).toBe(false);
});
