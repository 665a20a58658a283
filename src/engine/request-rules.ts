/** The form of written rules about what agents ask, as people write them in options and files. No behaviour. */
import { z } from "zod";
import { type RequestRule, RULE_DECISIONS } from "../model/request-policy.ts";

const MOST_RULES = 200;
const MOST_CHARS = 500;
/** More than anybody can read. */
const MOST_STARS = 5;

const words = z.string().min(1).max(MOST_CHARS);
const pattern = words.refine(
  (text) => text.split("*").length <= MOST_STARS + 1,
  `it may have at most ${MOST_STARS} stars`,
);

const ruleSchema = z
  .strictObject({
    agent: pattern.optional(),
    tool: pattern.optional(),
    pattern: pattern.optional(),
    decision: z.enum(RULE_DECISIONS),
    minutes: z.number().positive().max(100_000).optional(),
    otherwise: z.enum(["allow", "deny"]).optional(),
    reason: words.optional(),
  })
  .refine(
    ({ minutes, otherwise }) => (minutes === undefined) === (otherwise === undefined),
    "minutes and otherwise belong together",
  )
  .refine(({ decision, minutes }) => decision === "ask" || minutes === undefined, "only ask has minutes and otherwise");

export const requestRulesSchema: z.ZodType<RequestRule[]> = z.array(ruleSchema).max(MOST_RULES);
