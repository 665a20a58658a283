import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type CondenseLimits,
  type CondenseMessage,
  type CondensePart,
  planCondense,
  shorten,
} from "../../src/model/condense.ts";

const CHARS_PER_TOKEN = 4;
/** The space that a cut marker needs; shorter texts are left alone. */
const MARK = 64;
const SHORTEST = 200 + MARK;

function message(id: string, role: "user" | "assistant", ...parts: CondensePart[]): CondenseMessage {
  return { id, role, otherChars: 0, parts };
}
const text = (id: string, content: string): CondensePart => ({ id, kind: "text", text: content });
const output = (id: string, content: string): CondensePart => ({ id, kind: "output", text: content });
const roomy: CondenseLimits = {
  tokens: 1_000_000,
  wholeOutputs: 2,
  recentOutputs: 2,
  recentChars: 300,
  olderChars: 100,
};

/** The history after applying the plan. */
function carryOut(messages: readonly CondenseMessage[], limits: CondenseLimits): CondenseMessage[] {
  const plan = planCondense(messages, limits);
  const texts = new Map(plan.rewrite.map((each) => [each.partId, each.text]));
  return messages
    .filter(({ id }) => !plan.drop.includes(id))
    .map((kept) => ({
      ...kept,
      parts: kept.parts.map((part) => ({ ...part, text: texts.get(part.id) ?? part.text })),
    }));
}

const sizeOf = (messages: readonly CondenseMessage[]) =>
  messages.reduce((sum, each) => sum + each.otherChars + each.parts.reduce((n, part) => n + part.text.length, 0), 0);

const anyHistory: fc.Arbitrary<CondenseMessage[]> = fc
  .array(
    fc.record({
      role: fc.constantFrom("user" as const, "assistant" as const),
      otherChars: fc.nat({ max: 500 }),
      parts: fc.array(
        fc.record({ kind: fc.constantFrom("text" as const, "output" as const), length: fc.nat({ max: 5000 }) }),
        { maxLength: 4 },
      ),
    }),
    { maxLength: 12 },
  )
  .map((drafts) =>
    drafts.map((draft, at) => ({
      id: `m${at}`,
      role: at === 0 ? ("user" as const) : draft.role,
      otherChars: draft.otherChars,
      parts: draft.parts.map(({ kind, length }, index) => ({
        id: `m${at}p${index}`,
        kind,
        text: String(at % 10).repeat(length),
      })),
    })),
  );

const anyLimits: fc.Arbitrary<CondenseLimits> = fc.record({
  tokens: fc.integer({ min: 50, max: 5000 }),
  wholeOutputs: fc.nat({ max: 3 }),
  recentOutputs: fc.nat({ max: 3 }),
  recentChars: fc.integer({ min: 0, max: 2000 }),
  olderChars: fc.integer({ min: 0, max: 500 }),
});

describe("shorten", () => {
  test("keeps no tail if there is only room for a head", () => {
    expect(shorten("abcdef", 1)).toBe("a\n… [5 characters cut] …\n");
    expect(shorten("abcdef", 0)).toBe("\n… [6 characters cut] …\n");
  });

  test("keeps head and tail, and says how much was cut", () => {
    const cut = shorten(`${"a".repeat(500)}${"b".repeat(500)}`, 100);
    expect(cut).toBe(`${"a".repeat(70)}\n… [900 characters cut] …\n${"b".repeat(30)}`);
  });

  test("leaves a text within the limit unchanged", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat({ max: 50 }), (whole, more) => {
        expect(shorten(whole, whole.length + more)).toBe(whole);
      }),
    );
  });

  test("counts the characters it cut", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), fc.nat({ max: 3000 }), (length, limit) => {
        fc.pre(limit < length);
        const cut = shorten("x".repeat(length), limit);
        const [, missing] = /\[(\d+) characters cut\]/.exec(cut) ?? [];
        expect(Number(missing) + limit).toBe(length);
      }),
    );
  });
});

describe("a condensed history", () => {
  test("has its newest outputs in full, the next ones shortened, older ones shortened more", () => {
    const outputs = ["A", "B", "C", "D", "E"].map((letter) => output(letter, letter.repeat(1000)));
    const history = [message("q", "user", text("t", "go")), message("a", "assistant", ...outputs)];
    const [, answer] = carryOut(history, roomy);
    const kept = (letter: string) =>
      (answer?.parts.find((part) => part.id === letter)?.text ?? "").split(letter).length - 1;
    expect(["A", "B", "C", "D", "E"].map(kept)).toEqual([100, 300, 300, 1000, 1000]);
  });

  test("loses its oldest turns first, and only whole turns", () => {
    const history = [1, 2, 3].flatMap((turn) => [
      message(`q${turn}`, "user", text(`qt${turn}`, "q")),
      message(`a${turn}`, "assistant", text(`at${turn}`, "a".repeat(400))),
      message(`b${turn}`, "assistant", text(`bt${turn}`, "b".repeat(400))),
    ]);
    const plan = planCondense(history, { ...roomy, tokens: 450 });
    expect(plan).toEqual({ drop: ["q1", "a1", "b1"], rewrite: [] });
  });

  test("has a single message of 500 KB cut to the limit, head and tail kept", () => {
    const huge = `BEGIN${"x".repeat(500_000)}END`;
    const kept = carryOut([message("q", "user", text("t", huge))], { ...roomy, tokens: 10_000 });
    const [part] = kept[0]?.parts ?? [];
    expect(sizeOf(kept)).toBeLessThanOrEqual(10_000 * CHARS_PER_TOKEN);
    expect(sizeOf(kept)).toBeGreaterThan(9_000 * CHARS_PER_TOKEN);
    expect([part?.text.startsWith("BEGIN"), part?.text.endsWith("END")]).toEqual([true, true]);
  });

  test("is unchanged if it fits", () => {
    const history = [message("q", "user", text("t", "hello")), message("a", "assistant", output("o", "x".repeat(99)))];
    expect(planCondense(history, roomy)).toEqual({ drop: [], rewrite: [] });
    expect(planCondense([], roomy)).toEqual({ drop: [], rewrite: [] });
  });

  test("is within the limit, unless nothing is left to cut", () => {
    fc.assert(
      fc.property(anyHistory, anyLimits, (history, limits) => {
        const kept = carryOut(history, limits);
        if (sizeOf(kept) <= limits.tokens * CHARS_PER_TOKEN) return;
        expect(kept.slice(1).filter((each) => each.role === "user")).toEqual([]);
        for (const part of kept.flatMap((each) => each.parts)) expect(part.text.length).toBeLessThanOrEqual(SHORTEST);
      }),
      { numRuns: 500 },
    );
  });

  test("never begins with an answer whose question is gone, and loses messages only at the front", () => {
    fc.assert(
      fc.property(anyHistory, anyLimits, (history, limits) => {
        const kept = carryOut(history, limits);
        expect(kept.map(({ id }) => id)).toEqual(history.slice(history.length - kept.length).map(({ id }) => id));
        if (history.length > 0) expect(kept[0]?.role).toBe("user");
      }),
    );
  });

  test("is never longer, and keeps the newest outputs in full as long as the limit allows", () => {
    fc.assert(
      fc.property(anyHistory, anyLimits, (history, limits) => {
        const before = new Map(history.flatMap((each) => each.parts.map((part) => [part.id, part.text] as const)));
        const kept = carryOut(history, { ...limits, tokens: 1_000_000 }).flatMap((each) => each.parts);
        for (const part of kept) expect(part.text.length).toBeLessThanOrEqual(before.get(part.id)?.length ?? 0);
        const outputs = kept.filter((part) => part.kind === "output");
        const whole = limits.wholeOutputs === 0 ? [] : outputs.slice(-limits.wholeOutputs);
        for (const part of whole) expect(part.text).toBe(before.get(part.id) ?? "");
      }),
    );
  });
});
