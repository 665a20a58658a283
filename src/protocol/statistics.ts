/** Statistics on the wire: the totals of all tasks, their history, and the totals of one task group. No behaviour. */
import { z } from "zod";
import { isoTime, milliseconds, statusSchema, wholeCount } from "./fields.ts";
import { statusOperation } from "./operation.ts";
import { instant, wholeNumber } from "./query-fields.ts";
import { runSchema, taskSchema, tokensSchema } from "./tasks.ts";

const durationSchema = z.object({
  avg: milliseconds,
  max: milliseconds,
  min: milliseconds,
  count: wholeCount.describe("how many ended runs the figures are of; all are 0 when there is none"),
});

export const agentStatsSchema = z.object({
  agent: z.string(),
  tasks: wholeCount,
  active: wholeCount,
  byStatus: z.record(statusSchema, wholeCount),
  toolCalls: wholeCount,
  tokens: tokensSchema,
  cost: z.number(),
  duration: durationSchema,
});

export const statsSchema = z.object({
  totalTasks: wholeCount.describe("that are stored"),
  removedTasks: wholeCount.describe(
    "that were pruned or removed; durations, tools, tokens and cost count these, too, and nothing else does",
  ),
  activeTasks: wholeCount,
  byStatus: z.record(statusSchema, wholeCount),
  byAgent: z.record(z.string(), wholeCount),
  duration: durationSchema.describe("of ended runs"),
  agents: z.array(agentStatsSchema),
});

export const historySchema = z.object({
  from: isoTime,
  to: isoTime,
  bucketMs: milliseconds,
  buckets: z
    .array(z.object({ at: isoTime, byStatus: z.record(statusSchema, wholeCount) }))
    .describe("tasks by when they started and what has become of them; buckets without any are left out"),
  durations: z
    .array(z.object({ below: milliseconds.nullable().describe("null: everything longer"), runs: wholeCount }))
    .describe("how long the runs took that ended in this time, from short to long"),
});

export const usageSchema = z.object({
  from: isoTime,
  to: isoTime,
  bucketMs: milliseconds,
  usage: z
    .array(
      z.object({
        at: isoTime,
        model: z.string().nullable().describe("provider/model; null where the host chose it"),
        tasks: wholeCount,
        tokens: tokensSchema,
        cost: z.number(),
        unpriced: wholeCount.describe("how many of the tasks used tokens, but have no cost: it is not known"),
      }),
    )
    .describe("by when tasks started, and by model; oldest first, without empty ones, at most 5,000"),
});

export const groupSchema = z.object({
  id: z.string(),
  tasks: z.array(taskSchema).describe("newest first; at most 1,000"),
  runs: z.array(runSchema).describe("all runs of these tasks, oldest first; at most 5,000"),
  truncated: z.boolean().describe("true when the group has more tasks or runs than are listed"),
  completed: wholeCount,
  running: wholeCount.describe("running and resumed"),
  error: wholeCount,
  cancelled: wholeCount,
  total: wholeCount,
  completionRate: z.number().min(0).max(1).describe("completed of total, from 0 to 1"),
  totalToolCalls: wholeCount,
  tokens: tokensSchema,
  cost: z.number(),
  startedAt: isoTime,
  endedAt: isoTime.nullable().describe("null while a task of the group is live"),
  duration: milliseconds.describe("from the first start to the last end, or until now"),
});

export type Stats = z.infer<typeof statsSchema>;
export type AgentStats = z.infer<typeof agentStatsSchema>;
export type StatsHistory = z.infer<typeof historySchema>;
export type StatsUsage = z.infer<typeof usageSchema>;
export type TaskGroup = z.infer<typeof groupSchema>;

export const statisticsOperations = {
  group: statusOperation({
    title: "The tasks of a batch with their totals",
    role: "read",
    output: groupSchema,
    errors: ["group_not_found"],
  }),
  stats: statusOperation({
    title: "Counts by status and agent, durations, tokens and cost",
    role: "read",
    output: statsSchema,
  }),
  history: statusOperation({
    title: "Tasks over time, and how long runs took",
    role: "read",
    input: z.object({
      from: instant.optional().describe("ISO 8601; a day before `to` when absent"),
      to: instant.optional().describe("ISO 8601; now when absent"),
      buckets: wholeNumber.refine((value) => value >= 1 && value <= 200, "must be from 1 to 200").default(48),
    }),
    output: historySchema,
    errors: ["invalid_input"],
  }),
  usage: statusOperation({
    title: "Tokens and cost over time, by model",
    role: "read",
    input: z.object({
      from: instant.optional().describe("ISO 8601; seven days before `to` when absent"),
      to: instant.optional().describe("ISO 8601; now when absent"),
      buckets: wholeNumber.refine((value) => value >= 1 && value <= 200, "must be from 1 to 200").default(7),
    }),
    output: usageSchema,
    errors: ["invalid_input"],
  }),
};
