/**
 * Decides whether a whole test run is good: every test passed, every file reported, every citation is correct. Pure:
 * takes what happened and returns what to print. A skipped test is a defect, and so is a run of nothing.
 */
import type { CheckResult } from "../check.ts";
import type { GroupReport } from "./group-run.ts";
import { fullName, type TestResult } from "./junit.ts";
import { type Capability, misplacedIds, prove, unprovenOf } from "./requirements.ts";

export interface Verdict {
  passed: number;
  /** One description per failure. */
  failures: string[];
  proven: number;
}

export interface Run {
  checks: readonly CheckResult[];
  groups: readonly GroupReport[];
  known: readonly string[];
  capabilities: readonly Capability[];
  /** A run of some files cannot tell what is unproven. */
  filtered: boolean;
}

export function judge(run: Run): Verdict {
  const tests = run.groups.flatMap((group) => group.tests);
  const { proven, problems } = prove(tests, new Set(run.known));
  const unproven = run.filtered ? [] : unprovenOf(run.capabilities, run.known, proven);
  const failures = [
    ...run.checks.filter((check) => !check.passed).map((check) => `check: ${check.name}`),
    ...tests.flatMap(failureOf),
    ...run.groups.flatMap(groupFailures),
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

function groupFailures(group: GroupReport): string[] {
  if (group.crash && group.tests.length === 0)
    return [`${group.name} ${group.crash} (files: ${group.files.join(", ")})`];
  const reported = new Set(group.tests.map((test) => test.file));
  const missing = group.files.filter((file) => !reported.has(file));
  const failures = missing.map((file) => `${file}: reported no test: it could not be loaded, or holds none`);
  // A file that cannot be loaded makes Bun exit with 1, and is already reported.
  return group.crash && missing.length === 0 ? [...failures, `${group.name} ${group.crash}`] : failures;
}
