/**
 * Validates what a caller sent as an operation's input: first the schema, then the format of ids. An error names the
 * field, the problem, and what is allowed. Changes nothing and looks nothing up.
 */
import type { z } from "zod";
import { AsyncAgentsError } from "../model/errors.ts";
import { BOARD_OPERATIONS, type BoardOperationName } from "../protocol/operations.ts";
import { isIdField, isUuid } from "./uuid.ts";

/** An operation's validated input, as its handler receives it. */
export type Input<Name extends BoardOperationName> = z.output<(typeof BOARD_OPERATIONS)[Name]["input"]>;

const SHOWN = 60;

export function parseInput<Name extends BoardOperationName>(name: Name, given: unknown): Input<Name> {
  const schema = BOARD_OPERATIONS[name].input as z.ZodObject;
  const fields = Object.keys(schema.shape);
  const isLoose = name === "follow_up";
  const raw = withoutNulls(given, isLoose ? [...fields, "workspace_id"] : null);
  const result = (isLoose ? schema : schema.strict()).safeParse(raw);
  if (!result.success) throw refusal(result.error.issues, raw, fields);
  return withIds(result.data, "") as Input<Name>;
}

/**
 * Null means absent: some clients send it for every field left empty. Some clients also send extra fields with a
 * follow-up, which are ignored; for all other operations an unknown field is an error.
 */
function withoutNulls(given: unknown, only: readonly string[] | null): Record<string, unknown> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new AsyncAgentsError("invalid_input", "The input must be an object of fields.");
  }
  const isMeant = ([name, value]: [string, unknown]) => value !== null && (only === null || only.includes(name));
  return Object.fromEntries(Object.entries(given).filter(isMeant));
}

function refusal(issues: readonly z.core.$ZodIssue[], raw: unknown, fields: readonly string[]): AsyncAgentsError {
  const missing = issues.find((issue) => valueAt(raw, issue.path) === undefined);
  const issue = missing ?? issues[0];
  const field = issue === undefined ? "" : fieldOf(issue.path);
  if (missing) {
    const message = `${field} is missing. It ${problemOf(missing)}.`;
    return new AsyncAgentsError("missing_required", message, { details: { field } });
  }
  if (issue?.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    const place = field === "" ? key : `${field}.${key}`;
    const message = `There is no field ${JSON.stringify(place.slice(0, SHOWN))}. Known fields: ${fields.join(", ")}.`;
    return new AsyncAgentsError("invalid_input", message, { details: { field: place.slice(0, SHOWN) } });
  }
  const message = issue === undefined ? "The input is not valid." : `${field} ${problemOf(issue)}.`;
  return new AsyncAgentsError("invalid_input", message, { details: { field } });
}

function problemOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${article(expectedOf(issue))}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "too_big":
      return `must ${boundOf(issue.origin, `at most ${issue.maximum}`)}`;
    case "too_small":
      return `must ${boundOf(issue.origin, `at least ${issue.minimum}`)}`;
    default:
      return `is not valid: ${issue.message}`;
  }
}

function boundOf(origin: string, bound: string): string {
  if (origin === "string") return `have ${bound} characters`;
  return origin === "array" ? `have ${bound} entries` : `be ${bound}`;
}

function expectedOf(issue: z.core.$ZodIssue): string {
  const expected = issue.code === "invalid_type" ? String(issue.expected) : "value";
  return expected === "int" ? "whole number" : expected;
}

function article(word: string): string {
  return `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;
}

function fieldOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, part) => (inner as Record<PropertyKey, unknown> | undefined)?.[part], value);
}

/** Checks every id and normalizes it to the form used in the store. */
function withIds(value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((inner, i) => withIds(inner, `${path}[${i}]`));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => {
    const field = path === "" ? name : `${path}.${name}`;
    if (!isIdField(name) || inner === undefined) return [name, withIds(inner, field)];
    if (typeof inner !== "string" || !isUuid(inner)) throw notAnId(field, inner);
    return [name, inner.toLowerCase()];
  });
  return Object.fromEntries(entries);
}

function notAnId(field: string, value: unknown): AsyncAgentsError {
  const shown = JSON.stringify(typeof value === "string" ? value.slice(0, SHOWN) : typeof value);
  const message = `${field} must be a UUID such as 3f2b8c1e-0d4a-4f6b-9a57-5f6d2c7e8b90, not ${shown}. Copy it from a list.`;
  return new AsyncAgentsError("invalid_input", message, { details: { field } });
}
