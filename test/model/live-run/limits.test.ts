/** A run that waits for people, and one that exceeds its limits. */
import { describe, expect, test } from "bun:test";
import { noEvidence } from "../../../src/model/evidence.ts";
import type { InspectPurpose } from "../../../src/model/live-run/effects.ts";
import type { RunInput } from "../../../src/model/live-run/inputs.ts";
import { after, begun, effectsOf, type Happening, polled, shown } from "./steps.ts";
import { LIMITS, sampleRun } from "./walk.ts";

const asked = (requestId: string): RunInput => ({ type: "session.asked", requestId, asks: "question", text: "?" });
const answered = (...requestIds: string[]): RunInput => ({ type: "session.answered", requestIds, answer: null });

describe("requests and limits", () => {
  const working = after(sampleRun(), ...begun).run;

  test("a run waits until the last request is answered", () => {
    const both = after(working, asked("a"), asked("b"));
    expect(effectsOf(both)).toEqual(["waiting"]);
    expect(effectsOf(after(both.run, answered("a")))).toEqual(["waiting"]);
    expect(effectsOf(after(both.run, answered("a"), answered("b")))).toEqual(["working"]);
  });

  test("a phase that could not be written is written by the next poll, unless another one followed", () => {
    const asking = after(working, asked("a"));
    const [write] = asking.effects;
    if (write?.type !== "write") throw new Error("Nothing was written.");
    const failed: RunInput = { type: "write.failed", event: write.event };
    expect(effectsOf(after(asking.run, failed))).toEqual(["poll"]);
    expect(effectsOf(after(asking.run, failed, polled))).toEqual(["waiting"]);
    expect(effectsOf(after(asking.run, failed, polled, polled))).toEqual([]);
    expect(effectsOf(after(asking.run, answered("a"), failed, polled))).toEqual([]);
    expect(effectsOf(after(asking.run, failed, answered("a"), polled))).toEqual([]);
  });

  test("a list of open requests asks only what is not known", () => {
    const found: RunInput = { type: "request.found", requestId: "a", asks: "question", text: "?" };
    expect(effectsOf(after(working, found))).toEqual(["waiting"]);
    expect(effectsOf(after(working, asked("a"), found))).toEqual([]);
    expect(effectsOf(after(working, asked("a"), answered("a"), found))).toEqual([]);
  });

  test("the time limit does not count the time in which it waited for a person", () => {
    const limit = LIMITS.runMs ?? 0;
    const waited: Happening[] = [asked("a"), [limit * 2, answered("a")]];
    expect(effectsOf(after(working, ...waited, polled))).toEqual([]);
    expect(effectsOf(after(working, ...waited, [limit, polled]))).toEqual(["stalled"]);
    expect(effectsOf(after(working, ...waited, [limit + 1, polled]))).toEqual(["abort stop"]);
  });

  test("nor if a sign of work overtakes the answer that it follows", () => {
    const limit = LIMITS.runMs ?? 0;
    const sign: RunInput = { type: "text.written" };
    const overtaken: Happening[] = [asked("a"), [limit * 2, sign], [3, answered("a")]];
    expect(effectsOf(after(working, ...overtaken, [limit - 60_000, polled]))).toEqual(["stalled"]);
    expect(effectsOf(after(working, ...overtaken, [limit + 1, polled]))).toEqual(["abort stop"]);
  });

  test("it counts the time of what works beside an open request, as long as that shows work", () => {
    const limit = LIMITS.runMs ?? 0;
    const minutes = Array.from({ length: limit / 60_000 + 1 }, (): Happening => [60_000, { type: "text.written" }]);
    expect(effectsOf(after(working, asked("a"), ...minutes.slice(1), polled))).toEqual([]);
    expect(effectsOf(after(working, asked("a"), ...minutes, polled))).toEqual(["abort stop"]);
  });

  test("a run that exceeds a limit is stopped when it calls a tool, not only by the next poll", () => {
    const again = (index: number): RunInput => ({
      type: "tool.called",
      sessionId: "s",
      callId: `c${index}`,
      name: "bash",
      input: "true",
    });
    const calls = Array.from({ length: LIMITS.repeats + 1 }, (_, index) => again(index));
    expect(effectsOf(after(working, ...calls.slice(1)))).toEqual([]);
    const stopped = after(working, ...calls);
    expect(effectsOf(stopped)).toEqual(["abort stop"]);
    expect(stopped.run.stopping?.verdict).toMatchObject({ error: expect.stringContaining("with the same arguments") });
    expect(effectsOf(after(stopped.run, again(9)))).toEqual([]);
    expect(effectsOf(after(working, [(LIMITS.runMs ?? 0) + 10, again(0)]))).toContain("abort stop");
  });

  test("a run that was stopped at its limit says so, although the answer to the stop was lost", () => {
    const tooLong = after(working, [(LIMITS.runMs ?? 0) + 10, polled]);
    const [abort] = tooLong.effects;
    if (abort?.type !== "abort") throw new Error("Nothing was stopped.");
    const lost: RunInput = { type: "abort.failed", purpose: abort.purpose, error: "timed out", isGone: false };
    const error = { message: "aborted", aborted: true };
    const ended = after(tooLong.run, lost, shown("hint", { begun: true, error }, 999_999));
    expect(effectsOf(ended)).toEqual([expect.stringContaining("error: stopped: ")]);
    // Its program dies while the answer is still on its way.
    const purpose: InspectPurpose = { name: "host.ended", reason: "the agent program ended" };
    const dead: RunInput = { type: "inspected", purpose, evidence: { ...noEvidence(true), begun: true, error } };
    expect(effectsOf(after(tooLong.run, dead))).toEqual([expect.stringContaining("error: stopped: ")]);
    // Without a stop of ours, somebody else did it.
    const byOthers = ["cancelled: aborted in its own session"];
    expect(effectsOf(after(working, shown("hint", { begun: true, error })))).toEqual(byOthers);
    expect(effectsOf(after(working, dead))).toEqual(byOthers);
  });

  test("a quiet run is stalled unless it waits for its own tasks or its budgets, and works again with the next sign", () => {
    const quiet = after(working, [LIMITS.stallMs + 10, polled]);
    expect(effectsOf(quiet)).toEqual(["stalled"]);
    expect(effectsOf(after(working, [LIMITS.stallMs + 10, { type: "poll.done", isWaiting: true }]))).toEqual([]);
    expect(effectsOf(after(quiet.run, { type: "text.written" }))).toEqual(["working", "wake save 500"]);
    const waited: Happening = [LIMITS.stallMs + 10, { type: "poll.done", isWaiting: true }];
    expect(effectsOf(after(working, waited, [LIMITS.stallMs - 10, polled]))).toEqual([]);
    expect(effectsOf(after(working, waited, [LIMITS.stallMs + 10, polled]))).toEqual(["stalled"]);
  });
});
