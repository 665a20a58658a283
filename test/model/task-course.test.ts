/** When a run began, and how requests were answered, from the events of a task. */
import { expect, test } from "bun:test";
import type { TaskEvent } from "../../src/model/events.ts";
import type { Run } from "../../src/model/task.ts";
import { courseOf } from "../../src/model/task-course.ts";

const run = { number: 1, startedAt: 100 } as Run;
const phased = (at: number, phase: "queued" | "starting" | "working", number = 1): TaskEvent => ({
  type: "run.phased",
  at,
  run: number,
  phase,
  detail: null,
});
const begins = (events: TaskEvent[], sessionId = "s") => courseOf({ sessionId, run }, events).beganAt;

test("a run that did not wait began when it was started; one that waits has not begun", () => {
  expect(begins([phased(120, "working")])).toBe(100);
  expect(begins([phased(150, "working"), phased(140, "starting"), phased(110, "queued")])).toBe(140);
  expect(begins([phased(110, "queued")])).toBeNull();
  expect(begins([], "")).toBeNull();
  // Of earlier runs nothing counts.
  expect(begins([phased(50, "starting", 0), phased(10, "queued", 0)])).toBe(100);
});

test("answers are listed oldest first, the newest 50", () => {
  const answered = (at: number): TaskEvent => ({
    type: "run.phased",
    at,
    run: 0,
    phase: "working",
    detail: {
      kind: "answered",
      requestId: `r${at}`,
      reply: "rejected",
      by: "policy",
      at,
      appliedAt: at + 1,
      asked: "May I?",
    },
  });
  const events = Array.from({ length: 60 }, (_, index) => answered(60 - index));
  const { answers } = courseOf({ sessionId: "s", run }, events);
  expect([answers.length, answers[0]?.at, answers.at(-1)?.at]).toEqual([50, 11, 60]);
  expect(answers[0]).toEqual({ requestId: "r11", run: 0, reply: "rejected", by: "policy", at: 11, asked: "May I?" });
});
