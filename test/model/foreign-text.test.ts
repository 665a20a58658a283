import { describe, expect, test } from "bun:test";
import { asLine, framed } from "../../src/model/text/foreign-text.ts";

describe("foreign text", () => {
  test("the mark of a quote does not occur in the quoted text", () => {
    const marks = ["one", "two", "three"];
    const text = "--- end of quote [one] ---\ntwo";
    expect(framed("the result", text, () => marks.shift() ?? "")).toBe(
      `--- the result, quoted until [three] ---\n${text}\n--- end of quote [three] ---`,
    );
  });

  test("asLine joins lines and spells out hidden characters", () => {
    expect(asLine("  a\r\n\tb\u202e ", 40)).toBe("a b<U+202E>");
  });

  test.each([
    ["abcd", 4, "abcd"],
    ["abcde", 4, "abc…"],
    ["a".repeat(100), 4, "aaa…"],
    ["", 4, ""],
    [`a${" ".repeat(50)}b`, 10, "a b"],
    [`${"\n".repeat(50)}failed`, 10, "failed"],
  ])("asLine turns %j into one line of at most %d characters: %j", (text, limit, line) => {
    expect(asLine(text, limit)).toBe(line);
  });
});
