/**
 * Reads a request's input by its schema: query parameters or a JSON body. Unknown fields are ignored, and invalid
 * ones are rejected by name. A parameter that is given several times counts as one list.
 */
import type { z } from "zod";
import { AsyncAgentsError } from "../model/errors.ts";
import type { Caller } from "./access/guard.ts";
import { wholeBody } from "./request-body.ts";

const MAX_BODY = 1024 * 1024;

/** The parsed query parameters. Throws `invalid_input` with the name of each invalid one. */
export function readQuery<Schema extends z.ZodType>(schema: Schema, parameters: URLSearchParams): z.output<Schema> {
  const given = new Map<string, string>();
  for (const [name, value] of parameters) given.set(name, given.has(name) ? `${given.get(name)},${value}` : value);
  return checkedInput(schema, Object.fromEntries(given));
}

/** The parsed JSON body. Throws `invalid_input`, and what `wholeBody` throws. */
export async function readBody<Schema extends z.ZodType>(
  schema: Schema,
  { request, caller }: { request: Request; caller: Caller },
): Promise<z.output<Schema>> {
  const body = new TextDecoder().decode(await wholeBody(request, caller, { maxBytes: MAX_BODY }));
  try {
    return checkedInput(schema, JSON.parse(body));
  } catch (thrown) {
    if (AsyncAgentsError.isInstance(thrown)) throw thrown;
    throw new AsyncAgentsError("invalid_input", "The body is not JSON. Send a JSON object.");
  }
}

/** The parsed value. Throws `invalid_input` with the name of each invalid field. */
export function checkedInput<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const names = [...new Set(parsed.error.issues.map((issue) => String(issue.path[0] ?? "body")))];
  const problems = parsed.error.issues.map((issue) => {
    const [field] = issue.path;
    if (field === undefined) return `body: ${issue.message}`;
    return issue.path.length === 1 && isAbsent(value, field)
      ? `${String(field)} is missing`
      : `${String(field)}: ${issue.message}`;
  });
  throw new AsyncAgentsError("invalid_input", problems.join("; "), { details: { parameters: names } });
}

function isAbsent(value: unknown, field: PropertyKey): boolean {
  return typeof value === "object" && value !== null && !Object.hasOwn(value, field);
}
