import { expect, test } from "bun:test";
import type { Output } from "../../src/cli/terminal/output.ts";
import { Screen, type Terminal } from "../../src/cli/terminal/screen.ts";

test("a restored terminal is not drawn on again", () => {
  const texts: string[] = [];
  const output = { write: (_stream: string, text: string) => texts.push(text) } as unknown as Output;
  const terminal = { columns: 80, rows: 24, on: () => {}, off: () => {} } as unknown as Terminal;
  const screen = new Screen({ output, stdout: terminal, stderr: terminal, json: false, environment: {} });
  const leave = screen.enterAlternateScreen();
  screen.draw(["the table"]);
  leave();
  const before = texts.length;
  screen.draw(["the table again"]);
  expect(texts.join("")).toContain("the table");
  expect(texts.slice(before)).toEqual([]);
});
