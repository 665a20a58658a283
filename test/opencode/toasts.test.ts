import { expect, test } from "bun:test";
import { transition } from "../../src/model/transition.ts";
import { endToast, launchToast, Toasts } from "../../src/opencode/toasts.ts";
import { newTask } from "../../src/testing/sample-task.ts";

/** Time that passes only when the test says so. */
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

test("never more than one a second; what comes in between is said together, the worst first", async () => {
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

test("none where they are switched off", () => {
  const clock = stillClock();
  const toasts = new Toasts(() => Promise.reject(new Error("must not be called")), false, clock);
  toasts.show({ message: "one", variant: "info" });
  expect(clock.waits()).toEqual([]);
});

test("what a model calls its task is one line without hidden characters, and no toast of its own", () => {
  const task = { ...newTask("ses_0123456789abcdef"), description: "a\nFinished: b\u001b[2J\u202e" };
  const made = transition(null, { type: "task.created", at: 0, task });
  if (!made.changed) throw new Error(made.reason);
  expect(launchToast(made.task).message).toBe("Launched: a Finished: b<U+001B>[2J<U+202E>");
  expect(endToast(made.task).message).toBe("Needs attention: a Finished: b<U+001B>[2J<U+202E>");
});
