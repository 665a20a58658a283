/**
 * Fields of query strings, where everything arrives as text. Their input types are what a TypeScript caller passes:
 * the client writes numbers as digits and joins lists with commas. No behaviour.
 */
import { z } from "zod";
import { STATUSES, type Status } from "../model/task.ts";

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const MAX_TEXT = 500;

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

const cappedNumber = wholeNumber.transform((value) => Math.min(value, MAX_LIMIT));

export const listLimit = cappedNumber
  .default(DEFAULT_LIMIT)
  .describe(`how many; ${DEFAULT_LIMIT} when absent, more than ${MAX_LIMIT} is taken as that`);

/** At least 1; absent for everything. */
export const messageLimit = cappedNumber.refine((value) => value > 0, "must be at least 1").optional();

export const instant = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value));
