/**
 * The printed report: tables side by side and one verdict line per limit. Pure: returns text, prints nothing.
 */
import type { Comparison } from "./opencode/background-task.ts";
import type { Mode } from "./opencode/bed.ts";
import { contenders } from "./opencode/contenders.ts";
import type { ContextBytes } from "./opencode/context-bytes.ts";
import type { Judged } from "./opencode/measures.ts";
import type { Estimate } from "./statistics.ts";

type Row = readonly string[];

export const MODE_LABELS: Record<Mode, string> = { tui: "TUI", serve: "headless serve, over HTTP" };

/** The load per core above which a run counts as disturbed; an undisturbed run stays well below it. */
const BUSY_LOAD = 1.1;

/** What to say about a run at this load; null if the machine was quiet. */
export function disturbance(load: number, cores: number): string | null {
  return load > BUSY_LOAD * cores ? "Others were at work here, and the side that does more feels it more." : null;
}

export function timesTable(judged: readonly Judged[]): string {
  const head = ["median [95% interval]", contenders.ours.label, contenders.theirs.label, "ratio", "limit", ""];
  const rows = judged.map(({ title, ours, theirs, ratio, limit, passed }) => [
    title,
    `${estimate(ours, 1)} ms`,
    `${estimate(theirs, 1)} ms`,
    estimate(ratio, 2),
    limit === null ? "" : limit.toFixed(2),
    passed === null ? "" : passed ? "✓" : "✗",
  ]);
  return table([head, ...rows]);
}

export function bytesTable({ ours, theirs }: Comparison["bytes"], plainDefinition: number): string {
  const extra = theirs.definitions - plainDefinition;
  const row = (title: string, key: keyof ContextBytes): Row => [title, count(ours[key]), count(theirs[key])];
  const task = ({ launch, notice }: ContextBytes) => count(launch + notice);
  return table([
    ["bytes in the parent's context", contenders.ours.label, contenders.theirs.label],
    row("definitions, in every request", "definitions"),
    ["  of these for background tasks", count(ours.definitions), count(extra)],
    row("launch: the call and its result", "launch"),
    row("notice, with the result", "notice"),
    ["one task: launch and notice", task(ours), task(theirs)],
  ]);
}

export function verdictLine(place: string, { title, limit, ratio, passed }: Judged): string {
  const interval = `95% interval ${ratio.low.toFixed(2)} to ${ratio.high.toFixed(2)}`;
  const word = passed ? "PASS" : "FAIL";
  const sign = passed ? "at most" : "more than";
  return `${word}  ${place}: ${title}: ${ratio.value.toFixed(2)} times theirs (${interval}), ${sign} ${limit?.toFixed(2)}`;
}

export function table(rows: readonly Row[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const line = (row: Row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("   ")
      .trimEnd();
  const [head = [], ...rest] = rows;
  const rule = "─".repeat(Math.max(...rows.map((row) => line(row).length)));
  return [line(head), rule, ...rest.map(line)].join("\n");
}

export function estimate({ value, low, high }: Estimate, digits: number): string {
  return `${value.toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`;
}

export function count(value: number): string {
  return value.toLocaleString("en-US");
}
