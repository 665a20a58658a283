import { describe, expect, test } from "bun:test";
import { isQueueHeld, statusAfterRun } from "../../src/model/board.ts";
import { INTERRUPTED, interruption } from "../../src/model/evidence.ts";

describe("a work item", () => {
  test.each(["todo", "inprogress", "inreview", "done", "cancelled"] as const)("that is %s", (status) => {
    expect(statusAfterRun(status, { begins: true })).toBe("inprogress");
    expect(statusAfterRun(status, { begins: false, live: true })).toBe(status);
    expect(statusAfterRun(status, { begins: false, live: false })).toBe(status === "inprogress" ? "inreview" : status);
  });
});

describe("queued prompts", () => {
  const failed = { number: 2, outcome: "error", error: "the provider refused" } as const;

  test("wait after a run that failed or was cancelled, until another one is queued", () => {
    for (const run of [failed, { ...failed, outcome: "cancelled" as const }]) {
      expect(isQueueHeld(run, null)).toBe(true);
      expect(isQueueHeld(run, 1)).toBe(true);
      expect(isQueueHeld(run, 2)).toBe(false);
    }
  });

  test("continue after a run that completed, or was interrupted because its program died", () => {
    expect(isQueueHeld({ ...failed, outcome: "completed", error: null }, null)).toBe(false);
    for (const error of [INTERRUPTED, interruption("the program was killed")]) {
      expect(isQueueHeld({ ...failed, error }, null)).toBe(false);
    }
    expect(isQueueHeld({ ...failed, error: null }, null)).toBe(true);
  });
});
