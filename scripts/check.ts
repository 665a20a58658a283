/**
 * The checks that need no test run: format and lint (Biome) and types (tsc), in parallel. As a program it prints
 * failures and exits with 1; the test script uses the results as values.
 */
import { dirname, join } from "node:path";
import { programOutput } from "./program-output.ts";

export interface CheckResult {
  name: string;
  passed: boolean;
  output: string;
}

const root = dirname(import.meta.dir);

// All are scripts in node_modules; run by this Bun they need neither a shell nor a .cmd file.
const checks = [
  { name: "format and lint", command: ["node_modules/@biomejs/biome/bin/biome", "check", "."] },
  { name: "types", command: ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "."] },
  { name: "types of the dashboard", command: ["node_modules/typescript/bin/tsc", "--noEmit", "-p", "dashboard"] },
];

export function runChecks(): Promise<CheckResult[]> {
  return Promise.all(checks.map(runCheck));
}

async function runCheck({ name, command: [script = "", ...args] }: (typeof checks)[number]): Promise<CheckResult> {
  const { out, err, code } = await programOutput([process.execPath, join(root, script), ...args], { cwd: root });
  return { name, passed: code === 0, output: `${out}${err}`.trim() };
}

/** Prints one line per check, and the output of failed ones. */
export function printChecks(results: readonly CheckResult[]): void {
  for (const { name, passed, output } of results) {
    console.log(passed ? `(pass) check: ${name}` : `${output}\n(fail) check: ${name}`);
  }
}

if (import.meta.main) {
  const results = await runChecks();
  printChecks(results);
  process.exitCode = results.every((result) => result.passed) ? 0 : 1;
}
