import { expect, test } from "bun:test";
import { questionsIn, questionsText } from "../../src/model/questions.ts";

test("each of several questions is found again, whatever it ends with and however many lines it has", () => {
  const text = questionsText(["Which colour?", "Pick a size.\n- S\n- XL", "Say when"]);
  expect(text).toBe("1. Which colour?\n2. Pick a size. - S - XL\n3. Say when");
  expect(questionsIn(text)).toEqual(["1. Which colour?", "2. Pick a size. - S - XL", "3. Say when"]);
  const many = Array.from({ length: 12 }, (_, index) => `Question ${index}`);
  expect(questionsIn(questionsText(many)).length).toBe(12);
  expect(questionsIn(questionsText(["", "", "x"])).length).toBe(3);
});

test("a single question stays as it is, also with several lines", () => {
  for (const text of [
    "Which?",
    "Is this right?\n\n  const a = 1;\n",
    "Pick one:\n1. red\n2. blue",
    "Really?\nAre you sure?",
  ]) {
    expect(questionsText([text])).toBe(text);
    expect(questionsIn(text)).toEqual([text.trim()]);
  }
  expect(questionsText([])).toBe("");
});
