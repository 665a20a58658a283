/**
 * The printed report of the status API: one table, one verdict line per limit, and additional notes. Pure: returns
 * text, prints nothing.
 */
import { estimate, table } from "../report.ts";
import { quantile } from "../statistics.ts";
import type { JudgedStatus } from "./measures.ts";

export function statusTable(judged: readonly JudgedStatus[]): string {
  const head = ["median [95% interval]", "ours", "compared with", "theirs", "ratio or difference", "limit", ""];
  const rows = judged.map(({ title, against, unit, ours, theirs, compared, compare, limit, passed }) => {
    const digits = unit === "ms" ? 2 : 0;
    const isRatio = compare === "ratio";
    return [
      title,
      `${estimate(ours, digits)} ${unit}`,
      against,
      `${estimate(theirs, digits)} ${unit}`,
      isRatio ? estimate(compared, 2) : `${estimate(compared, 1)} ${unit}`,
      limit === null ? "" : `${limit.bound} ${limit.value}`,
      passed === null ? "" : passed ? "✓" : "✗",
    ];
  });
  return table([head, ...rows]);
}

export function statusVerdict({ title, against, unit, compared, compare, limit, passed }: JudgedStatus): string {
  const isRatio = compare === "ratio";
  const figure = isRatio ? `${compared.value.toFixed(2)} times` : `${compared.value.toFixed(1)} ${unit} more than`;
  const digits = isRatio ? 2 : 1;
  const interval = `95% interval ${compared.low.toFixed(digits)} to ${compared.high.toFixed(digits)}`;
  const sign = passed ? limit?.bound : limit?.bound === "at most" ? "more than" : "less than";
  return `${passed ? "PASS" : "FAIL"}  ${title}: ${figure} ${against} (${interval}), ${sign} ${limit?.value}`;
}

/** The median and the tail of some times, in words. */
export function spread(times: readonly number[]): string {
  const at = (share: number) => `${quantile(times, share).toFixed(1)} ms`;
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`;
}
