/**
 * Validates what a caller sent as an operation's input: first the schema, then the format of ids. An error names the
 * field, the problem, and what is allowed. Changes nothing and looks nothing up.
 */
import type { z } from "zod";
import { AsyncAgentsError } from "../model/errors.ts";
import { fieldOf, issueText, valueAt } from "../model/text/issue-text.ts";
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
    const message = `${field} is missing. It ${issueText(missing)}.`;
    return new AsyncAgentsError("missing_required", message, { details: { field } });
  }
  if (issue?.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    const place = field === "" ? key : `${field}.${key}`;
    const message = `There is no field ${JSON.stringify(place.slice(0, SHOWN))}. Known fields: ${fields.join(", ")}.`;
    return new AsyncAgentsError("invalid_input", message, { details: { field: place.slice(0, SHOWN) } });
  }
  const message = issue === undefined ? "The input is not valid." : `${field} ${issueText(issue)}.`;
  return new AsyncAgentsError("invalid_input", message, { details: { field } });
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
