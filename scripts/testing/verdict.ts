/**
 * Decides whether a whole test run is good: every test passed, every file reported, every citation is correct. Pure:
 * takes what happened and returns what to print. A skipped test is a defect, and so is a run of nothing.
 */
import type { CheckResult } from "../check.ts";
import { fullName, type TestResult } from "./junit.ts";
import type { LaneReport } from "./lane-run.ts";
import { type Capability, misplacedIds, prove, unprovenOf } from "./requirements.ts";

export interface Verdict {
  passed: number;
  /** One description per failure. */
  failures: string[];
  proven: number;
}

export interface Run {
  checks: readonly CheckResult[];
  lanes: readonly LaneReport[];
  known: readonly string[];
  capabilities: readonly Capability[];
  /** A run of some files cannot tell what is unproven. */
  filtered: boolean;
}

export function judge(run: Run): Verdict {
  const tests = run.lanes.flatMap((lane) => lane.tests);
  const { proven, problems } = prove(tests, new Set(run.known));
  const unproven = run.filtered ? [] : unprovenOf(run.capabilities, run.known, proven);
  const failures = [
    ...run.checks.filter((check) => !check.passed).map((check) => `check: ${check.name}`),
    ...tests.flatMap(failureOf),
    ...run.lanes.flatMap(laneFailures),
    ...(tests.length === 0 ? ["no test ran"] : []),
    ...misplacedIds(run.capabilities, run.known).map((id) => `requirement ${id} must be in exactly one capability`),
    ...problems,
    ...unproven.map(({ name, ids }) => `${name} is declared done, but no passing test proves: ${ids.join(", ")}`),
  ];
  const passed = [...run.checks.filter((check) => check.passed), ...tests.filter((test) => test.outcome === "passed")];
  return { passed: passed.length, failures, proven: proven.size };
}

function failureOf(test: TestResult): string[] {
  if (test.outcome === "passed") return [];
  const why = test.outcome === "skipped" ? "skipped: make it run, or delete it" : test.message;
  return [`${test.file}: ${fullName(test)}${why ? ` (${why})` : ""}`];
}

function laneFailures(lane: LaneReport): string[] {
  if (lane.crash && lane.tests.length === 0) return [`${lane.name} ${lane.crash} (files: ${lane.files.join(", ")})`];
  const reported = new Set(lane.tests.map((test) => test.file));
  const missing = lane.files.filter((file) => !reported.has(file));
  const failures = missing.map((file) => `${file}: reported no test: it could not be loaded, or holds none`);
  // A file that cannot be loaded makes Bun exit with 1, and is already reported.
  return lane.crash && missing.length === 0 ? [...failures, `${lane.name} ${lane.crash}`] : failures;
}
