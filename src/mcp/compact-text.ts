/**
 * An answer as text for models: one line per field or row, without braces and quotes, in a fraction of the JSON's
 * tokens. It contains everything that the structured answer does, for clients that pass on only the text. Knows no
 * tool: it follows the data. A value cannot start a line or a column of its own: it is one line, or framed.
 */
import { asLine, framed, type NewMark } from "../model/text/foreign-text.ts";

type Fields = Record<string, unknown>;

const LINE = 20_000;

/** Fields in their order; multi-line texts last, framed and otherwise unchanged. */
export function compactText(answer: Fields, newMark: NewMark): string {
  return lines(answer, newMark).join("\n");
}

function lines(fields: Fields, newMark: NewMark): string[] {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  const long = entries.filter(([, value]) => isLong(value));
  const short = entries.filter(([, value]) => !isLong(value));
  return [
    ...short.flatMap(([name, value]) => field(name, value, newMark)),
    ...long.map(([name, value]) => framed(name, String(value), newMark)),
  ];
}

function field(name: string, value: unknown, newMark: NewMark): string[] {
  if (Array.isArray(value)) return list(name, value, newMark);
  if (isFields(value)) return [`${name}:`, ...indented(lines(value, newMark))];
  return [`${name}: ${word(value)}`];
}

function list(name: string, values: readonly unknown[], newMark: NewMark): string[] {
  if (values.length === 0) return [`${name}: none`];
  if (!values.every(isFields)) return [`${name}: ${values.map(word).join(", ")}`];
  const columns = [...new Set(values.flatMap((row) => Object.keys(row)))];
  if (!values.every((row) => Object.values(row).every(isCell))) {
    return values.flatMap((row, index) => [
      `${name} ${index + 1} of ${values.length}:`,
      ...indented(lines(row, newMark)),
    ]);
  }
  const rows = values.map((row) => columns.map((column) => cell(row[column])).join(" | "));
  return [`${name} (${columns.join(" | ")}):`, ...indented(rows)];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isLong(value: unknown): boolean {
  return typeof value === "string" && value.includes("\n");
}

function isCell(value: unknown): boolean {
  return !isLong(value) && (typeof value !== "object" || value === null || isWords(value));
}

function isWords(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.every((item) => typeof item !== "object" && !isLong(item));
}

function cell(value: unknown): string {
  const text = isWords(value) ? value.map(word).join(" ") || "-" : word(value);
  return text.replaceAll("|", "\\|");
}

function word(value: unknown): string {
  return value === null || value === undefined || value === "" ? "-" : asLine(String(value), LINE);
}

/** Multi-line texts are not indented: a patch must be usable as it is. */
function indented(text: readonly string[]): string[] {
  return text.map((line) => (line.includes("\n") ? line : `  ${line}`));
}
