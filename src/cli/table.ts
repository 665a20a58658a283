/**
 * Tables for people: aligned, in the width that there is. Columns that may be cut give way, the widest first; the rest keeps
 * its width. Cells are one line. Pure: gives the lines.
 */
import type { Paint } from "./paint.ts";
import { cutToWidth, oneLine, padTo, widthOf } from "./text.ts";

export interface Column<Row> {
  title: string;
  cell(row: Row): string;
  /** May be cut down to this width; never cut when absent. */
  least?: number;
  /** Painted after it was measured. */
  paint?(text: string, row: Row): string;
  right?: boolean;
}

const GAP = "  ";

export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, paint }: { width: number; paint: Paint },
): string[] {
  const cells = rows.map((row) => columns.map((column) => oneLine(column.cell(row))));
  const widths = fittedWidths(columns, cells, width);
  const line = (texts: readonly string[], painted: (text: string, index: number) => string) =>
    texts
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
  const total = () => widths.reduce((sum, each) => sum + each, 0) + GAP.length * (columns.length - 1);
  for (let over = total() - width; over > 0; over = total() - width) {
    const giving = widths
      .map((wide, index) => ({ index, spare: wide - (columns[index]?.least ?? wide), wide }))
      .filter(({ spare }) => spare > 0)
      .sort((one, other) => other.wide - one.wide)[0];
    if (!giving) break;
    widths[giving.index] = giving.wide - Math.min(giving.spare, Math.max(1, Math.ceil(over / 4)));
  }
  return widths;
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
