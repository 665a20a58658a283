/**
 * `--format`: one line per row, from a text with field names in braces: `{id}  {status}`. Docker's `{{.id}}` means
 * the same. Pure.
 */
import { AsyncAgentsError } from "../../model/errors.ts";
import { oneLine } from "./text.ts";

const FIELD = /\{\{\s*\.?([\w.]+)\s*\}\}|\{([\w.]+)\}/g;

export function formatted(format: string, row: object): string {
  const text = format.replaceAll("\\t", "\t").replaceAll("\\n", "\n");
  return text.replace(FIELD, (_, doubled: string | undefined, single: string | undefined) =>
    fieldOf(row, doubled ?? single ?? ""),
  );
}

function fieldOf(row: object, path: string): string {
  let value: unknown = row;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) throw unknownField(row, path);
    value = (value as Record<string, unknown>)[name];
  }
  if (value === null) return "-";
  return oneLine(typeof value === "object" ? JSON.stringify(value) : String(value));
}

function unknownField(row: object, path: string): AsyncAgentsError {
  const known = Object.keys(row).join(", ");
  return new AsyncAgentsError("invalid_input", `There is no field {${path.slice(0, 60)}}. --format takes ${known}.`);
}
