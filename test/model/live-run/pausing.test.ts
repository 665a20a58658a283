/** How runs wait for their provider after another process died. */
import { expect, test } from "bun:test";
import { adoptPaused } from "../../../src/model/live-run/pausing.ts";
import { LIMITS, sampleTask } from "./walk.ts";

test("a run that waited for its provider in a dead process waits on within its limits only", () => {
  const created = sampleTask();
  const at = { awake: 5_000, wall: 90_000 };
  const taken = (until: number, limits = LIMITS) => {
    const phaseDetail = { kind: "retrying", reason: "quota", count: 1, until } as const;
    return adoptPaused({ ...created, phase: "retrying", phaseDetail }, limits, at);
  };
  const soon = taken(at.wall + 60_000);
  expect([soon.run.phase, soon.run.stage.name]).toEqual(["paused", "paused"]);
  for (const late of [
    taken(at.wall + 2 * LIMITS.quotaMs),
    taken(1e20),
    taken(at.wall + 1, { ...LIMITS, quotaWaits: 0 }),
  ]) {
    expect(late.effects).toMatchObject([{ type: "abort", purpose: { name: "stop" } }]);
    expect(late.run.stopping?.verdict).toMatchObject({ outcome: "error" });
  }
});
