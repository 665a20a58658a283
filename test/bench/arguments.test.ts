import { expect, test } from "bun:test";
import { BENCHMARKS, readArguments } from "../../bench/arguments.ts";
import { MODES } from "../../bench/bed.ts";

test("without arguments, all benchmarks run with 30 pairs, in the TUI first", () => {
  const on = [...MODES];
  expect(readArguments([])).toEqual({ type: "run", benchmarks: [...BENCHMARKS], on, pairs: 30, warmUps: 4 });
});

test("a name and numbers are taken", () => {
  const read = readArguments(["background-task", "--on", "tui", "--pairs", "7", "--warm-ups", "0"]);
  expect(read).toEqual({ type: "run", benchmarks: ["background-task"], on: ["tui"], pairs: 7, warmUps: 0 });
});

test.each([
  "--pairs 0",
  "--pairs x",
  "--pairs 1.5",
  "--pairs 1001",
  "--pairs",
  "--on",
  "--on web",
  "--fast",
  "nothing",
])("%s is refused", (line) => {
  expect(readArguments(line.split(" ")).type).toBe("wrong");
});

test("help is help whatever stands beside it", () => {
  expect(readArguments(["--help", "--pairs", "3"])).toEqual({ type: "help" });
});
