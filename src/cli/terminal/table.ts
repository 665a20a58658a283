/**
 * Tables for people: aligned and never wider than the available width. Columns that may be cut shrink first, widest
 * first; then all others except the first, and finally columns at the end are dropped. Cells are one line. Pure:
 * returns the lines.
 */
import type { Paint } from "./paint.ts";
import { cutToWidth, oneLine, padTo, widthOf } from "./text.ts";

export interface Column<Row> {
  title: string;
  cell(row: Row): string;
  /** The width it may be cut to; never cut if absent. */
  least?: number;
  /** Painted after measuring. */
  paint?(text: string, row: Row): string;
  right?: boolean;
}

const GAP = "  ";
/** The minimum width of any column on a narrow terminal. */
const MIN_WIDTH = 4;

export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, paint }: { width: number; paint: Paint },
): string[] {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.cell(row))));
  const widths = fittedWidths(columns, cells, width);
  const line = (texts: readonly string[], painted: (text: string, index: number) => string) =>
    texts
      .slice(0, widths.length)
      .map((text, index) => {
        const wide = widths[index] ?? 0;
        const cut = cutToWidth(text, wide);
        const space = " ".repeat(Math.max(0, wide - widthOf(cut)));
        return columns[index]?.right ? space + painted(cut, index) : painted(cut, index) + space;
      })
      .join(GAP)
      .trimEnd();
  const header = line(
    columns.map(({ title }) => title),
    (text) => paint.dim(text),
  );
  const body = cells.map((texts, row) =>
    line(texts, (text, index) => columns[index]?.paint?.(text, rows[row] as Row) ?? text),
  );
  return [header, ...body];
}

function fittedWidths<Row>(columns: readonly Column<Row>[], cells: readonly string[][], width: number): number[] {
  const widths = columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((texts) => widthOf(texts[index] ?? ""))),
  );
  shrink(widths, width, (index) => columns[index]?.least ?? Number.POSITIVE_INFINITY);
  shrink(widths, width, (index) => (index === 0 ? Number.POSITIVE_INFINITY : MIN_WIDTH));
  while (widths.length > 1 && widthOfLine(widths) > width) widths.pop();
  shrink(widths, width, () => 1);
  return widths;
}

/** Narrows columns, widest first, none below its minimum. */
function shrink(widths: number[], width: number, leastOf: (index: number) => number): void {
  for (let over = widthOfLine(widths) - width; over > 0; over = widthOfLine(widths) - width) {
    const giving = widths
      .map((wide, index) => ({ index, spare: wide - leastOf(index), wide }))
      .filter(({ spare }) => spare > 0)
      .sort((one, other) => other.wide - one.wide)[0];
    if (!giving) return;
    widths[giving.index] = giving.wide - Math.min(giving.spare, Math.max(1, Math.ceil(over / 4)));
  }
}

function widthOfLine(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1);
}

/** `name  value` lines, for one thing in detail. */
export function fieldLines(fields: readonly (readonly [string, string])[], paint: Paint): string[] {
  const wide = Math.max(...fields.map(([name]) => widthOf(name)));
  return fields.map(([name, value]) => {
    const [first = "", ...rest] = value.split("\n");
    return [`${paint.dim(padTo(name, wide))}${GAP}${first}`, ...rest.map((line) => " ".repeat(wide + 2) + line)].join(
      "\n",
    );
  });
}
