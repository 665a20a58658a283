/** A run without end: what is kept of it stays small, and what is counted stays right. */
import { expect, test } from "bun:test";
import { DEFAULT_LIMITS } from "../../../src/model/limits.ts";
import type { RunInput } from "../../../src/model/live-run/inputs.ts";
import { type LiveRun, progressOf } from "../../../src/model/live-run/live-run.ts";
import { IDS_KEPT, isRecent, NO_IDS, type RecentIds, withRecent } from "../../../src/model/live-run/recent-ids.ts";
import { step } from "../../../src/model/live-run/step.ts";
import { noProgress } from "../../../src/model/progress.ts";
import { after, begun } from "./steps.ts";
import { sampleRun } from "./walk.ts";

const at = { awake: 2_000, wall: 2_000 };
const MANY = 5_000;

const started = (): LiveRun => after({ ...sampleRun(), limits: DEFAULT_LIMITS }, ...begun).run;
const fed = (run: LiveRun, inputs: Iterable<RunInput>): LiveRun => {
  let last = run;
  for (const input of inputs) last = step(last, input, at).run;
  return last;
};
const each = (count: number, input: (index: number) => RunInput): RunInput[] =>
  Array.from({ length: count }, (_, index) => input(index));

const calling = (index: number, sessionId = "ses"): RunInput => {
  return { type: "tool.called", sessionId, callId: `call-${index}`, name: "read", input: { index } };
};
const using = (index: number, cost = 1, isUnpriced = false): RunInput => {
  const tokens = { ...noProgress(0).tokens, input: 2 };
  return { type: "usage.counted", messageId: `msg-${index}`, tokens, cost, isUnpriced };
};
const sizeOf = (ids: RecentIds) => ids.reduce((sum, { size }) => sum + size, 0);

test("ids: the newest are known, the number that is kept is bounded, and what is added last copies a portion", () => {
  let ids = NO_IDS;
  for (let index = 0; index < MANY; index++) {
    const next = withRecent(ids, [`${index}`]);
    // All others are the same portions.
    expect(next.filter((portion) => !ids.includes(portion))).toHaveLength(1);
    expect(next.every(({ size }) => size <= 100)).toBe(true);
    ids = next;
  }
  expect(sizeOf(ids)).toBeLessThanOrEqual(IDS_KEPT + 100);
  for (let index = MANY - IDS_KEPT; index < MANY; index++) expect(isRecent(ids, `${index}`)).toBe(true);
  expect(isRecent(ids, "0")).toBe(false);
  // What is reported again is kept longer.
  const old = `${MANY - IDS_KEPT}`;
  const more = Array.from({ length: IDS_KEPT - 200 }, (_, index) => `more-${index}`);
  expect(isRecent(withRecent(ids, more), old)).toBe(false);
  expect(isRecent(withRecent(withRecent(ids, [old]), more), old)).toBe(true);
});

test("each of many calls is counted once, and of their ids a bounded number is kept", () => {
  const twice = each(MANY, (index) => calling(index)).flatMap((input) => [input, input]);
  const run = fed(started(), twice);
  expect(progressOf(run, at).toolCalls).toBe(MANY);
  expect(sizeOf(run.activity.calls)).toBeLessThanOrEqual(IDS_KEPT + 100);
});

test("a call that is reported for as long as it goes on is counted once, whatever is called meanwhile", () => {
  const long = calling(-1);
  const beside = each(MANY, (index) => calling(index)).flatMap((input, index) =>
    index % 500 ? [input] : [input, long],
  );
  const run = fed(started(), [long, ...beside, long]);
  expect(progressOf(run, at).toolCalls).toBe(MANY + 1);
  expect(run.spans.list.reduce((sum, { kind, count }) => sum + (kind === "call" ? count : 0), 0)).toBeLessThanOrEqual(
    MANY + 1,
  );
});

test("what many messages used is counted once for each, and few are kept apart", () => {
  // A message is reported while it is written, and once more when others have begun.
  const messages = each(MANY, (index) => using(index)).flatMap((last, index) => [
    using(index, 0.5),
    last,
    ...(index >= 150 ? [using(index - 150)] : []),
    ...(index >= 500 ? [using(index - 500, 9)] : []),
  ]);
  const run = fed(started(), messages);
  expect(progressOf(run, at)).toMatchObject({ cost: MANY, tokens: { input: 2 * MANY } });
  expect(run.activity.usage.size).toBeLessThanOrEqual(200);
  expect(sizeOf(run.activity.settled)).toBeLessThanOrEqual(IDS_KEPT + 100);
  // What the host says about the cost of the prompt replaces all estimates, also the old ones.
  const corrected = fed(run, [{ type: "cost.reported", cost: 7 }]);
  expect(progressOf(corrected, at)).toMatchObject({ cost: 7, tokens: { input: 2 * MANY } });
});

test("tokens without a price stay known as such", () => {
  const run = fed(
    started(),
    each(300, (index) => using(index, 0, true)),
  );
  expect(progressOf(run, at).unpriced).toBe(600);
});

test("of many sessions those are followed that called last; of many requests the newest answers are known", () => {
  const run = fed(
    started(),
    each(MANY, (index) => calling(index, `ses-${index}`)),
  );
  expect(run.activity.repeated.size).toBeLessThanOrEqual(200);
  expect(run.activity.repeated.has(`ses-${MANY - 1}`)).toBe(true);
  // One that goes on calling is followed, however many others there are.
  const same = (callId: string): RunInput => {
    return { type: "tool.called", sessionId: "kept", callId, name: "read", input: "same" };
  };
  const beside = each(400, (index) => (index % 100 ? calling(index, `ses-${index}`) : same(`same-${index}`)));
  expect(fed(started(), beside).activity.repeated.get("kept")?.times).toBe(4);
  const asking = each(MANY, (index) => ({ type: "session.answered", requestIds: [`r${index}`], answer: null }));
  const answered = fed(started(), asking);
  expect(sizeOf(answered.answered)).toBeLessThanOrEqual(IDS_KEPT + 100);
  const again = fed(answered, [{ type: "request.found", requestId: `r${MANY - 1}`, asks: "question", text: "?" }]);
  expect(again.requests.size).toBe(0);
});
