/** How output written for a terminal is shown. */
import { expect, test } from "bun:test";
import { subjectOf } from "../../../dashboard/src/conversation/tool-subjects.ts";
import { hunkBetween } from "../../../dashboard/src/diff/line-diff.ts";
import { terminalRuns } from "../../../dashboard/src/wording/terminal-text.ts";

const ESC = "\u001B";
const plain = (text: string) =>
  terminalRuns(text)
    .map((run) => run.text)
    .join("");

test("colours and weights have names, and end where they end", () => {
  expect(terminalRuns(`a${ESC}[1;31mb${ESC}[22mc${ESC}[0md${ESC}[38;5;2me${ESC}[39m${ESC}[38;2;1;2;3mf`)).toEqual([
    { text: "a", looks: [] },
    { text: "b", looks: ["bold", "red"] },
    { text: "c", looks: ["red"] },
    { text: "d", looks: [] },
    { text: "e", looks: ["green"] },
    { text: "f", looks: [] },
  ]);
});

test("every other escape sequence is dropped, and none swallows what follows", () => {
  expect(plain(`x${ESC}[2J${ESC}[?25l${ESC}]0;title\u0007${ESC}]52;c;ZXZpbA==${ESC}\\y${ESC}(Bz${ESC}`)).toBe("xyz");
  expect(plain(`${ESC}]0;no end\nstill here`)).toBe("0;no end\nstill here");
  expect(plain(`${ESC}[31`)).toBe("31");
});

test("of an overwritten line the last state remains", () => {
  expect(plain("10%\r50%\r100%\ndone\r\n")).toBe("100%\ndone\n");
});

test("inputs of OpenCode's and of Claude's tools are read alike", () => {
  expect(subjectOf("bash", { command: "ls" })).toEqual({ kind: "command", command: "ls" });
  const edits = [{ before: "a", after: "b" }];
  expect(subjectOf("edit", { filePath: "x.ts", oldString: "a", newString: "b" })).toMatchObject({
    path: "x.ts",
    edits,
  });
  expect(subjectOf("Edit", { file_path: "x.ts", old_string: "a", new_string: "b" })).toMatchObject({ edits });
  expect(subjectOf("Write", { file_path: "x.ts", content: "c" })).toEqual({ kind: "file", path: "x.ts", content: "c" });
  for (const input of [null, "text", { command: 1 }, {}]) expect(subjectOf("bash", input)).toBeNull();
});

test("an edit is a hunk with the context of the change", () => {
  const { lines } = hunkBetween("1\n2\n3\n4\nold\nsame", "1\n2\n3\n4\nnew\nmore\nsame");
  expect(lines.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    "context 2",
    "context 3",
    "context 4",
    "removed old",
    "added new",
    "added more",
    "context same",
  ]);
  expect(hunkBetween("a", "a\na").lines.map(({ kind }) => kind)).toEqual(["context", "added"]);
});
