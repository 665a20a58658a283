/**
 * Fields of query strings, where everything arrives as text. Their input types are what a TypeScript caller passes:
 * the client writes numbers as digits and joins lists with commas. No behaviour.
 */
import { z } from "zod";
import { STATUSES, type Status, TASK_SORTS } from "../model/task.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const MAX_TEXT = 500;
const DEFAULT_SELECTED = 500;
const MAX_SELECTED = 2000;

export const wholeNumber = z
  .string()
  .regex(/^\d+$/, "must be a whole number, 0 or more")
  .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER)) as z.ZodType as z.ZodType<number, number>;

const filterText = z.string().max(MAX_TEXT, `must have at most ${MAX_TEXT} characters`);
/** Forms send empty fields, too. */
export const filter = filterText.transform((value) => (value === "" ? undefined : value)).optional();

export const statuses = z
  .string()
  .transform((value) => value.split(",").filter((word) => word !== ""))
  .pipe(
    z.array(
      z.enum(STATUSES, { error: ({ input }) => `"${String(input).slice(0, 50)}" is none of ${STATUSES.join(", ")}` }),
    ),
  )
  .transform((list): Status[] | undefined => (list.length === 0 ? undefined : list)) as z.ZodType as z.ZodType<
  Status[] | undefined,
  readonly Status[]
>;

/** A folder and everything below it. */
const folder = filterText
  .refine((path) => path === "" || path.startsWith("/"), 'must be an absolute path: it has to begin with "/"')
  .transform((path) => (path === "" ? undefined : path))
  .optional();

const oneOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.enum(names, { error: ({ input }) => `"${String(input).slice(0, 50)}" is none of ${names.join(", ")}` });

const cappedNumber = wholeNumber.transform((value) => Math.min(value, MAX_LIMIT));

export const listLimit = cappedNumber
  .default(DEFAULT_LIMIT)
  .describe(`how many; ${DEFAULT_LIMIT} when absent, more than ${MAX_LIMIT} is taken as that`);

/** At least 1; absent for everything. */
export const messageLimit = cappedNumber.refine((value) => value > 0, "must be at least 1").optional();

export const instant = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value));

const moment = z.iso
  .datetime({ offset: true, error: "must be a time such as 2026-11-18T09:00:00Z" })
  .transform((value) => Date.parse(value));

/** Which tasks, and in which order. */
export const taskFilters = {
  status: statuses.optional().describe("one or several, separated by commas"),
  id: filter.describe("the beginning of the task's id"),
  agent: filter.describe("the agent's name"),
  host: filter.describe("the program that runs it, such as opencode"),
  directory: folder.describe("an absolute path: this folder and everything below it"),
  from: moment.optional().describe("ISO 8601: those that started then or later"),
  to: moment.optional().describe("ISO 8601: those that started before"),
  search: filter.describe(
    "words that must all be in the description, the id or the error, in any order and without regard to case",
  ),
  parent: filter.describe("the session that launched them"),
  group: filter.describe("the task group"),
  sort: oneOf(TASK_SORTS)
    .optional()
    .describe(
      "started when absent. took and cost: of ended tasks, a live one counts as 0; description: by its first 60 characters",
    ),
  order: oneOf(["asc", "desc"]).optional().describe("desc when absent"),
};

/** For an object with those filters. */
export function isInOrder({ from, to }: { from?: number | undefined; to?: number | undefined }): boolean {
  return from === undefined || to === undefined || from <= to;
}
export const OUT_OF_ORDER = { path: ["to"], error: "is before from" };

export const selectionLimit = wholeNumber
  .transform((value) => Math.min(value, MAX_SELECTED))
  .default(DEFAULT_SELECTED)
  .describe(`how many; ${DEFAULT_SELECTED} when absent, more than ${MAX_SELECTED} is taken as that`);
