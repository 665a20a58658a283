/** Which characters count as hidden, and what replaces them. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { hiddenIn, piecesOf, visibleText } from "../../../dashboard/src/wording/hidden-characters.ts";

const CONTROLS = /[\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/;

test("direction controls, zero-width, control and tag characters are marked, repeated ones once", () => {
  expect(visibleText("/*\u202E } \u2066if (isAdmin)\u2069 \u2066 begin */")).toBe(
    "/*[U+202E] } [U+2066]if (isAdmin)[U+2069] [U+2066] begin */",
  );
  expect(visibleText("a\u200B\u200B\u200Bb\u00ADc\uFEFF")).toBe("a[U+200B ×3]b[U+00AD]c[U+FEFF]");
  expect(visibleText("\u001B[31mred\u0007 \u{E0041}\u3164\u2028")).toBe(
    "[U+001B][31mred[U+0007] [U+E0041][U+3164][U+2028]",
  );
  expect(visibleText("over\rwritten\r\nnext\r")).toBe("over[U+000D]written\r\nnext\r");
  expect(piecesOf("x\u202Ey")).toEqual(["x", { code: "U+202E", name: "right-to-left override" }, "y"]);
});

test("characters that emoji, keycaps, flags and joining scripts need are kept", () => {
  for (const text of [
    "family 👨‍👩‍👧‍👦, 🏳️‍🌈, 👩🏽‍💻, ❤️‍🔥, ☎️, 1️⃣",
    "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "می‌خواهم",
    "क्‍ष",
    "שלום, مرحبا, 日本語\tand\nlines",
  ]) {
    expect(visibleText(text)).toBe(text);
    expect(hiddenIn(text)).toBeNull();
  }
  expect(visibleText("ad\u200Dmin")).toBe("ad[U+200D]min");
  expect(visibleText("👩\u200Dx")).toBe("👩[U+200D]x");
});

test("a line warns about what it hides", () => {
  expect(hiddenIn("const a = 1;")).toBeNull();
  expect(hiddenIn("const a\u200B = 1;")).toBe("invisible");
  expect(hiddenIn("/* \u202E */")).toBe("direction");
});

test("no text is lost, no control character is left, and marks are bounded", () => {
  const hostile = fc.string({
    unit: fc.oneof(fc.constantFrom(..."\u202E\u2066\u200B\u200D\uFEFF\u200F\u0000a 👩"), fc.string({ unit: "binary" })),
  });
  fc.assert(
    fc.property(hostile, (text) => {
      const pieces = piecesOf(text);
      const kept = pieces.filter((piece) => typeof piece === "string").join("");
      expect(kept.replaceAll("\u200D", "").replaceAll("\u200C", "")).not.toMatch(CONTROLS);
      const length = pieces.reduce((sum, piece) => {
        if (typeof piece === "string") return sum + [...piece].length;
        return sum + Number(/×(\d+)/.exec(piece.code)?.[1] ?? 1);
      }, 0);
      expect(length).toBe([...text].length);
    }),
  );
  const flood = piecesOf("\u202E\u202D".repeat(5_000));
  expect(flood.length).toBeLessThan(600);
  expect(flood.at(-1)).toContain("[U+202D]");
});
