/**
 * Budgets on the wire: what a task, a batch or everything below a session may use and has used, and the operations that
 * list and set them. No behaviour.
 */
import { z } from "zod";
import { BUDGET_KINDS } from "../model/budgets/budget.ts";
import { isoTime, wholeCount } from "./fields.ts";
import { statusOperation } from "./operation.ts";
import { filter, listLimit } from "./query-fields.ts";

const amount = z.number().min(0);

/** How limits are written as text. */
export const BUDGET_FORM = "$2 30min 500ktok 5tasks";

export const budgetText = z.string().max(200);

const amounts = z.object({
  cost: amount.describe("dollars"),
  tokens: amount,
  minutes: amount.describe("working time"),
});

export const budgetLimitsSchema = z.object({
  cost: amount.nullable().describe("dollars; null for no limit"),
  tokens: amount.nullable(),
  minutes: amount.nullable().describe("working time of all tasks together"),
  tasks: amount.nullable().describe("how many may ever be launched"),
});

export const budgetSchema = z.object({
  id: z.string().describe("its kind and what it is for, such as batch:bat_1"),
  kind: z
    .enum(BUDGET_KINDS)
    .describe(
      "task: a task and everything below it; batch: its tasks and everything below them; session: everything below a session that launches",
    ),
  subject: z.string().describe("the id of the task, the batch or the session"),
  limits: budgetLimitsSchema,
  spent: amounts.extend({ tasks: wholeCount.describe("how many were launched") }),
  reserved: amounts.describe("what live tasks with budgets of their own may still use"),
  unpricedTokens: amount.describe("tokens that are not in the cost, because their model has no known price"),
  share: z.number().min(0).describe("of the limit of which most is used; 1 if that is used up"),
  live: wholeCount.describe("how many tasks in it are live"),
  warnedAt: isoTime.nullable().describe("when 80 % was reached"),
  usedUpAt: isoTime.nullable().describe("when it was used up: its live runs were stopped"),
  setBy: z.string(),
  setAt: isoTime,
  text: z.string().describe("what is used of what, for people"),
});

export type WireBudget = z.infer<typeof budgetSchema>;

export const budgetBodySchema = budgetLimitsSchema.partial().describe("limits that are not given stay as they are");

export type BudgetBody = z.infer<typeof budgetBodySchema>;

export const budgetOperations = {
  budgets: statusOperation({
    title: "What may be used and is used: of a task the nearest budget first, otherwise the one that was set last",
    role: "read",
    input: z.object({
      task: filter.describe("those that the task counts in"),
      id: filter.describe("this one only"),
      inUse: z.enum(["true", "false"]).optional().describe("only those with live tasks"),
      limit: listLimit,
    }),
    output: z.array(budgetSchema),
    errors: ["invalid_input"],
  }),
  setBudget: statusOperation({
    title: "Set the limits of a budget, for a task, a batch or a session (in place of the id: batch:bat_1)",
    role: "launch",
    input: budgetBodySchema,
    output: budgetSchema,
    access: "token",
    errors: ["invalid_input", "too_large", "not_found", "not_allowed"],
  }),
};
