import { expect, test } from "bun:test";
import { BENCHMARKS, PARTS, readArguments } from "../../bench/arguments.ts";
import { MODES } from "../../bench/opencode/bed.ts";

test("without arguments, all benchmarks run with 30 pairs, in the TUI first", () => {
  const all = { benchmarks: [...BENCHMARKS], on: [...MODES], parts: [...PARTS] };
  expect(readArguments([])).toEqual({ type: "run", ...all, pairs: 30, warmUps: 4, quick: false });
});

test("a name and numbers are accepted", () => {
  const read = readArguments(["background-task", "--on", "tui", "--pairs", "7", "--warm-ups", "0"]);
  expect(read).toMatchObject({ type: "run", benchmarks: ["background-task"], on: ["tui"], pairs: 7, warmUps: 0 });
});

test("a part of the status API is accepted", () => {
  const read = readArguments(["status-api", "--part", "events"]);
  expect(read).toMatchObject({ type: "run", benchmarks: ["status-api"], parts: ["events"] });
});

test("quick means few pairs, unless their number is given", () => {
  expect(readArguments(["--quick"])).toMatchObject({ quick: true, pairs: 2, warmUps: 1 });
  expect(readArguments(["--quick", "--pairs", "5"])).toMatchObject({ quick: true, pairs: 5, warmUps: 1 });
});

test.each([
  "--pairs 0",
  "--pairs x",
  "--pairs 1.5",
  "--pairs 1001",
  "--pairs",
  "--on",
  "--on web",
  "--part",
  "--part lists",
  "--fast",
  "nothing",
])("%s is refused", (line) => {
  expect(readArguments(line.split(" ")).type).toBe("wrong");
});

test("help is shown whatever else is given", () => {
  expect(readArguments(["--help", "--pairs", "3"])).toEqual({ type: "help" });
});
