/**
 * Query parameters and bodies by schema: unknown ones are ignored, wrong ones are refused with their names. A parameter
 * that is given several times counts as one list.
 */
import { z } from "zod";
import { AsyncAgentsError } from "../model/errors.ts";
import { STATUSES } from "../model/task.ts";
import type { TaskStatus } from "../protocol/tasks.ts";
import { wholeBody } from "./request-body.ts";

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 200;
const MAX_TEXT = 500;
const MAX_BODY = 1024 * 1024;

const wholeNumber = z
  .string()
  .regex(/^\d+$/, "must be a whole number, 0 or more")
  .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER));
const text = z.string().max(MAX_TEXT, `must have at most ${MAX_TEXT} characters`);
/** Forms send what was left empty. */
const filter = text.transform((value) => (value === "" ? undefined : value)).optional();

const statuses = z
  .string()
  .transform((value) => value.split(",").filter((word) => word !== ""))
  .pipe(
    z.array(
      z.enum(STATUSES, { error: ({ input }) => `"${String(input).slice(0, 50)}" is none of ${STATUSES.join(", ")}` }),
    ),
  )
  .transform((list): TaskStatus[] | undefined => (list.length === 0 ? undefined : list));

const limit = wholeNumber.transform((value) => Math.min(value, MAX_LIMIT));

export const listQuery = z.object({
  status: statuses.optional().describe("one or several, separated by commas"),
  id: filter.describe("the beginning of the task's id"),
  agent: filter.describe("the agent's name"),
  search: filter.describe(
    "words that must all be in the description, the id or the error, in any order and without regard to case",
  ),
  parent: filter.describe("the session that launched them"),
  group: filter.describe("the task group"),
  limit: limit
    .default(DEFAULT_LIMIT)
    .describe(`how many; ${DEFAULT_LIMIT} when absent, more than ${MAX_LIMIT} is taken as that`),
  offset: wholeNumber.default(0).describe("how many to pass over"),
});

export const logsQuery = z.object({
  limit: limit
    .refine((value) => value > 0, "must be at least 1")
    .optional()
    .describe("read one page of this many messages; all when absent"),
  before: filter.describe("the x-next-cursor of the page after this one"),
});

const instant = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value));

export const historyQuery = z.object({
  from: instant.optional().describe("ISO 8601; a day before `to` when absent"),
  to: instant.optional().describe("ISO 8601; now when absent"),
  buckets: wholeNumber.refine((value) => value >= 1 && value <= 200, "must be from 1 to 200").default(48),
});

/** What the parameters mean. Throws `invalid_input` with the name of each wrong one. */
export function readQuery<Schema extends z.ZodType>(schema: Schema, parameters: URLSearchParams): z.output<Schema> {
  const given = new Map<string, string>();
  for (const [name, value] of parameters) given.set(name, given.has(name) ? `${given.get(name)},${value}` : value);
  return checked(schema, Object.fromEntries(given));
}

/** The JSON body. Throws `invalid_input`, and what `wholeBody` throws. */
export async function readBody<Schema extends z.ZodType>(schema: Schema, request: Request): Promise<z.output<Schema>> {
  const body = new TextDecoder().decode(await wholeBody(request, MAX_BODY));
  try {
    return checked(schema, JSON.parse(body));
  } catch (thrown) {
    if (AsyncAgentsError.isInstance(thrown)) throw thrown;
    throw new AsyncAgentsError("invalid_input", "The body is not JSON. Send a JSON object.");
  }
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
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
