import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  ABORTED,
  CANCELLED,
  type Evidence,
  INTERRUPTED,
  judge,
  judgeInterrupted,
  NO_OUTPUT,
  STOPPED_UNSEEN,
} from "../../src/model/evidence.ts";
import { noProgress } from "../../src/model/progress.ts";

function shown(fields: Partial<Evidence> = {}): Evidence {
  return {
    prompted: true,
    answer: null,
    error: null,
    begun: true,
    unfinished: false,
    worked: false,
    stoppedAt: null,
    progress: noProgress(0),
    taken: [],
    ...fields,
  };
}

const anyEvidence: fc.Arbitrary<Evidence> = fc.record({
  prompted: fc.boolean(),
  answer: fc.option(fc.record({ text: fc.string() }), { nil: null }),
  error: fc.option(fc.record({ message: fc.string(), aborted: fc.boolean() }), { nil: null }),
  begun: fc.boolean(),
  unfinished: fc.boolean(),
  worked: fc.boolean(),
  stoppedAt: fc.option(fc.record({ tool: fc.string(), message: fc.string() }), { nil: null }),
  progress: fc.constant(noProgress(0)),
  taken: fc.constant([]),
});
const announced = fc.option(fc.string(), { nil: null });

describe("the verdict on an idle run", () => {
  test("a run with a finished answer that did something has completed", () => {
    const evidence = shown({ answer: { text: "done" }, worked: true });
    expect(judge(evidence, null)).toEqual({ outcome: "completed", result: "done" });
  });

  test("a run with tool calls only has completed, without a text", () => {
    expect(judge(shown({ answer: { text: "" }, worked: true }), null)).toEqual({ outcome: "completed", result: "" });
  });

  test("idle after an error is an error with the same message [AT-F-07]", () => {
    const evidence = shown({ error: { message: "no credit", aborted: false }, worked: true });
    expect(judge(evidence, null)).toEqual({ outcome: "error", error: "no credit" });
  });

  test("idle with nothing done is an error [AT-F-07]", () => {
    expect(judge(shown({ answer: { text: "" } }), null)).toEqual({ outcome: "error", error: NO_OUTPUT });
    expect(judge(shown({ begun: false }), null)).toEqual({ outcome: "error", error: NO_OUTPUT });
  });

  test("a run aborted in its own session is cancelled", () => {
    const evidence = shown({ error: { message: "aborted", aborted: true } });
    expect(judge(evidence, "something else")).toEqual({ outcome: "cancelled", reason: ABORTED });
  });

  test("an announced error counts only if the messages show neither an error nor an answer", () => {
    expect(judge(shown({ begun: false }), "no such agent")).toEqual({ outcome: "error", error: "no such agent" });
    const answered = shown({ answer: { text: "recovered" }, worked: true });
    expect(judge(answered, "a hiccup")).toEqual({ outcome: "completed", result: "recovered" });
  });

  test("a run that stopped at a denied call names the tool", () => {
    const evidence = shown({ worked: true, stoppedAt: { tool: "bash", message: "refused" } });
    expect(judge(evidence, null)).toEqual({ outcome: "error", error: "stopped at its call of bash: refused" });
  });

  test("only an error-free answer that did something completes a run, whatever else is shown", () => {
    fc.assert(
      fc.property(anyEvidence, announced, (evidence, said) => {
        const completes = evidence.answer !== null && evidence.worked && evidence.error === null;
        expect(judge(evidence, said).outcome === "completed").toBe(completes);
      }),
    );
  });
});

describe("the verdict on a run whose process is gone", () => {
  test("a finished run keeps its outcome", () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        const isOver = evidence.answer !== null || evidence.error !== null;
        const interrupted = { outcome: "error", error: INTERRUPTED } as const;
        const { outcome } = isOver ? judge(evidence, null) : interrupted;
        expect(judgeInterrupted(evidence).outcome).toBe(outcome);
      }),
    );
  });

  test("nobody can say who stopped it, unless a cancel had been requested", () => {
    const evidence = shown({ error: { message: "aborted", aborted: true } });
    expect(judgeInterrupted(evidence)).toEqual({ outcome: "cancelled", reason: STOPPED_UNSEEN });
    expect(judgeInterrupted(evidence, true)).toEqual({ outcome: "cancelled", reason: CANCELLED });
  });

  test("an unfinished run was interrupted", () => {
    expect(judgeInterrupted(shown({ worked: true }))).toEqual({ outcome: "error", error: INTERRUPTED });
    expect(judgeInterrupted(shown({ prompted: false, begun: false })).outcome).toBe("error");
  });
});
