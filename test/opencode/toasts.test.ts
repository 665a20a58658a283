import { expect, test } from "bun:test";
import { transition } from "../../src/model/transition.ts";
import { endToast, launchToast, Toasts } from "../../src/opencode/toasts.ts";
import { newTask } from "../../src/testing/sample-task.ts";

/** A clock that only moves when the test says so. */
function stillClock() {
  let now = 10_000;
  const due: { at: number; work: () => void }[] = [];
  return {
    now: () => now,
    later(work: () => void, ms: number) {
      due.push({ at: now + ms, work });
      return 0 as unknown as ReturnType<typeof setTimeout>;
    },
    pass(ms: number) {
      now += ms;
      for (const { work } of due.splice(0).filter(({ at }) => at <= now)) work();
    },
    waits: () => due.map(({ at }) => at - now),
  };
}

test("at most one per second; what happens in between is combined, the worst first", async () => {
  const clock = stillClock();
  const shown: unknown[] = [];
  const toasts = new Toasts(async (body) => shown.push(body), true, clock);
  toasts.show({ message: "one", variant: "info" });
  clock.pass(300);
  for (const message of ["two", "three", "four"]) toasts.show({ message, variant: "success" });
  toasts.show({ message: "five", variant: "error" });
  expect(clock.waits()).toEqual([1000]);
  clock.pass(1000);
  expect(shown).toEqual([
    { title: "Background tasks", message: "one", variant: "info" },
    { title: "Background tasks", message: "five\ntwo\nthree\n… and 1 more", variant: "error" },
  ]);
});

test("none if they are switched off", () => {
  const clock = stillClock();
  const toasts = new Toasts(() => Promise.reject(new Error("must not be called")), false, clock);
  toasts.show({ message: "one", variant: "info" });
  expect(clock.waits()).toEqual([]);
});

test("a model's description is shown as one line without hidden characters, and never as a toast of its own", () => {
  const task = { ...newTask("ses_0123456789abcdef"), description: "a\nFinished: b\u001b[2J\u202e" };
  const made = transition(null, { type: "task.created", at: 0, task });
  if (!made.changed) throw new Error(made.reason);
  expect(launchToast(made.task).message).toBe("Launched: a Finished: b<U+001B>[2J<U+202E>");
  expect(endToast(made.task).message).toBe("Needs attention: a Finished: b<U+001B>[2J<U+202E>");
});
