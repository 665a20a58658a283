import { expect, test } from "bun:test";
import fc from "fast-check";
import { escapeHidden, markHidden } from "../../src/model/text/hidden-characters.ts";

const HIDDEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u;

test("hidden characters are spelled out: controls, direction marks, zero-width characters, line separators", () => {
  expect(markHidden("a\u001b]52;c;aGk=\u0007b\u009b2J\u007f")).toBe("a<U+001B>]52;c;aGk=<U+0007>b<U+009B>2J<U+007F>");
  expect(markHidden("/*\u202e } \u2066if (isAdmin)\u2069 \u2066*/")).toBe(
    "/*<U+202E> } <U+2066>if (isAdmin)<U+2069> <U+2066>*/",
  );
  expect(markHidden("pay\u200bpal \ufefffirst \u00adsoft \u3164 \u{e0041} \u2028 a\r")).toBe(
    "pay<U+200B>pal <U+FEFF>first <U+00AD>soft <U+3164> <U+E0041> <U+2028> a<U+000D>",
  );
});

test("ordinary text is unchanged: line feeds, tabs, emoji, scripts with joiners", () => {
  const written = "one\n\ttwo ⚠️ 1️⃣ 👩‍👩‍👧 🏳️‍🌈 👩🏽‍💻 می‌خواهم क्‍ष été 日本語";
  expect(markHidden(written)).toBe(written);
  // The same joiners, used only to hide something.
  expect(markHidden("ad\u200dmin a\ufe0fb")).toBe("ad<U+200D>min a<U+FE0F>b");
});

test("any text is free of hidden characters afterwards, and marking it again changes nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const marked = markHidden(text);
      const rest = marked.replace(/\n|\t|\ufe0e|\ufe0f|\u200c|\u200d/gu, "");
      return !HIDDEN.test(rest) && markHidden(marked) === marked;
    }),
  );
});

test("escaped JSON has the same meaning and no hidden characters", () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: "binary" }), fc.string({ unit: "binary" }), (json, text) => {
      const value = { json: JSON.parse(json), text };
      const escaped = escapeHidden(JSON.stringify(value, null, 2));
      expect(JSON.parse(escaped)).toEqual(JSON.parse(JSON.stringify(value)));
      return !HIDDEN.test(escaped.replaceAll("\n", ""));
    }),
  );
  expect(escapeHidden(JSON.stringify("\u009b\u202e\u{e0041}👩‍👩‍👧"))).toBe(
    '"\\u009b\\u202e\\udb40\\udc41👩\\u200d👩\\u200d👧"',
  );
});
