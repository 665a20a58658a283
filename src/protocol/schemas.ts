/**
 * The status API's words, once, as zod schemas: the server checks requests with them, the OpenAPI document is made from
 * them, and the client's types are inferred from them. Times are ISO 8601; durations are milliseconds. No behaviour.
 */
import { z } from "zod";
import { ANSWERERS, REPLIES } from "../model/answer.ts";
import { TOOL_STATES } from "../model/message.ts";
import { PHASES, STATUSES } from "../model/task.ts";

const time = z.iso.datetime().describe("ISO 8601, UTC");
const count = z.number().int().min(0);
const milliseconds = z.number().min(0).describe("milliseconds");

export const statusSchema = z.enum(STATUSES);

export const tokensSchema = z.object({
  input: z.number(),
  output: z.number(),
  reasoning: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
});

export const progressSchema = z.object({
  toolCalls: count,
  toolCallsByName: z.record(z.string(), count),
  lastTools: z.array(z.string()).describe("the newest tools by name, newest last"),
  lastUpdate: time.describe("when the agent last showed a sign of work"),
  tokens: tokensSchema,
  cost: z.number().describe("in US dollars, as the host reports it"),
});

export const phaseDetailSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("retrying"), reason: z.string(), count }),
  z.object({
    kind: z.literal("waiting"),
    requestId: z.string(),
    asks: z.enum(["permission", "question"]),
    text: z.string(),
  }),
  z
    .object({
      kind: z.literal("answered"),
      requestId: z.string(),
      reply: z.enum(REPLIES),
      by: z.enum(ANSWERERS).describe("from where; host: the agent's own program, model: an agent over MCP"),
      at: time,
    })
    .describe(
      "what was asked last, and how it was answered; stays when the run ends, until something else is to be said",
    ),
]);

export const noticeSchema = z.object({
  kind: z.enum(["ended", "waiting", "retrying", "stalled"]),
  state: z.enum(["pending", "sending", "delivered", "dropped"]),
  attempts: count,
  reason: z.string().nullable().describe("why the last try failed, or why it was dropped"),
  nextTryAt: time.nullable().describe("when it is tried again"),
});

export const taskSchema = z.object({
  id: z.string(),
  sessionID: z.string().describe("the host's session in which the task runs; the task's id in OpenCode"),
  parentSessionID: z.string().nullable().describe("the session that launched it; null when a person did"),
  parentMessageID: z.string().nullable(),
  parentAgent: z.string().nullable(),
  description: z.string(),
  prompt: z.string().describe("of the newest run"),
  agent: z.string(),
  model: z.string().nullable().describe("provider/model; null for the host's own choice"),
  status: statusSchema,
  phase: z.enum(PHASES).nullable().describe("what a live task is doing; null once it has ended"),
  phaseDetail: phaseDetailSchema.nullable(),
  startedAt: time,
  completedAt: time.nullable(),
  resultRetrievedAt: time.nullable(),
  result: z.string().nullable(),
  error: z.string().nullable(),
  shortened: z
    .array(z.enum(["prompt", "result", "error"]))
    .describe("texts that were cut to 8 KB here; /v1/tasks/{id} has them in full"),
  progress: progressSchema,
  batchId: z.string(),
  resumeCount: count,
  isForked: z.boolean(),
  run: z
    .object({ number: count, startedAt: time, endedAt: time.nullable() })
    .describe("the newest run: 0 is the launch, then one more for each resume"),
  host: z.string(),
  directory: z.string(),
  clearedAt: time.nullable().describe("when it left its parent's view; it stays in the history"),
  cancelRequestedAt: time.nullable(),
  notice: noticeSchema
    .nullable()
    .optional()
    .describe("the newest notice to its parent, null where there is none; only in /v1/tasks/{id}"),
});

export const runSchema = z.object({
  taskId: z.string(),
  number: count,
  prompt: z.string().describe("the first 2 KB; the task has the newest run's in full"),
  startedAt: time,
  endedAt: time.nullable(),
  outcome: z.enum(["completed", "error", "cancelled"]).nullable(),
  error: z.string().nullable(),
});

export const durationSchema = z.object({
  avg: milliseconds,
  max: milliseconds,
  min: milliseconds,
  count: count.describe("how many ended runs the figures are of; all are 0 when there is none"),
});

export const agentStatsSchema = z.object({
  agent: z.string(),
  tasks: count,
  active: count,
  byStatus: z.record(statusSchema, count),
  toolCalls: count,
  tokens: tokensSchema,
  cost: z.number(),
  duration: durationSchema,
});

export const statsSchema = z.object({
  totalTasks: count,
  activeTasks: count,
  byStatus: z.record(statusSchema, count),
  byAgent: z.record(z.string(), count),
  duration: durationSchema.describe("of ended runs"),
  agents: z.array(agentStatsSchema),
});

export const historySchema = z.object({
  from: time,
  to: time,
  bucketMs: milliseconds,
  buckets: z
    .array(z.object({ at: time, byStatus: z.record(statusSchema, count) }))
    .describe("tasks by when they started and what has become of them; buckets without any are left out"),
  durations: z
    .array(z.object({ below: milliseconds.nullable().describe("null: everything longer"), runs: count }))
    .describe("how long the runs took that ended in this time, from short to long"),
});

export const taskListSchema = z.object({
  tasks: z.array(taskSchema),
  total: count.describe("how many match, before limit and offset"),
  limit: count,
  offset: count,
});

export const groupSchema = z.object({
  id: z.string(),
  tasks: z.array(taskSchema).describe("newest first; at most 1,000"),
  runs: z.array(runSchema).describe("all runs of these tasks, oldest first; at most 5,000"),
  truncated: z.boolean().describe("true when the group has more tasks or runs than are listed"),
  completed: count,
  running: count.describe("running and resumed"),
  error: count,
  cancelled: count,
  total: count,
  completionRate: z.number().min(0).max(1).describe("completed of total, from 0 to 1"),
  totalToolCalls: count,
  tokens: tokensSchema,
  cost: z.number(),
  startedAt: time,
  endedAt: time.nullable().describe("null while a task of the group is live"),
  duration: milliseconds.describe("from the first start to the last end, or until now"),
});

const toolPartSchema = z.object({
  type: z.literal("tool"),
  callId: z.string(),
  name: z.string(),
  state: z.enum(TOOL_STATES),
  title: z.string().nullable(),
  input: z.unknown(),
  output: z.string().nullable(),
  error: z.string().nullable(),
  startedAt: time.nullable(),
  endedAt: time.nullable(),
});

export const messagePartSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("text"),
    text: z.string(),
    hidden: z.boolean().describe("for the model only: not written by a person, not shown by the host"),
  }),
  z.object({ type: z.literal("reasoning"), text: z.string() }),
  toolPartSchema,
  z.object({ type: z.literal("file"), name: z.string().nullable(), mime: z.string(), url: z.string() }),
  z.object({ type: z.literal("other"), raw: z.unknown().describe("the host's own record") }),
]);

export const messageSchema = z.object({
  id: z.string(),
  role: z.enum(["user", "assistant"]),
  at: time,
  endedAt: time.nullable(),
  agent: z.string().nullable(),
  model: z.string().nullable(),
  error: z.string().nullable(),
  tokens: tokensSchema.nullable(),
  cost: z.number().nullable(),
  parts: z.array(messagePartSchema),
});

export const healthSchema = z.object({
  status: z.literal("ok"),
  uptime: z.number().min(0).describe("seconds"),
  version: z.string(),
  taskCount: count,
  pid: count,
});

export const troubleSchema = z.object({
  kind: z.enum(["disk_full", "store_damaged"]),
  message: z.string().describe("what is wrong and what to do"),
});

export const instanceSchema = z.object({
  id: z.string(),
  host: z.string(),
  directory: z.string(),
  agents: z.array(z.object({ name: z.string(), description: z.string().nullable() })),
});

export const snapshotSchema = z.object({
  tasks: z.array(taskSchema).describe("newest first"),
  total: count,
  truncated: z.boolean().describe("true: only the live and the newest; page through /v1/tasks for the rest"),
  stats: statsSchema,
});

export const errorSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string().describe("says what to do next"),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
});

export const launchBodySchema = z.object({
  description: z.string().describe("a few words"),
  prompt: z.string(),
  agent: z.string().optional().describe("the host's own choice when absent"),
  host: z
    .string()
    .optional()
    .describe("opencode, claude, …; with it the daemon opens the directory where nobody serves it"),
  directory: z.string().optional().describe("where it works; needed when this process serves several"),
  batch: z.string().optional().describe("a name; tasks with the same name form one group"),
});

export const resumeBodySchema = z.object({ prompt: z.string() });

export const forkBodySchema = z.object({
  prompt: z.string(),
  description: z.string().optional().describe("a few words; those of the task when absent"),
  agent: z.string().optional().describe("the task's own when absent"),
});

const requestId = z
  .string()
  .optional()
  .describe("of what is answered, as in phaseDetail: an answer to something else is then refused");

const via = z
  .enum(["dashboard", "command line"])
  .optional()
  .describe("from where, for others who look at the task; over the API when absent");

export const answerBodySchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("permission"),
    decision: z.enum(["once", "always", "reject"]),
    message: z
      .string()
      .max(10_000)
      .nullable()
      .optional()
      .describe("told to the agent with a refusal, which then goes on; without one the run ends"),
    requestId,
    via,
  }),
  z.object({
    kind: z.literal("question"),
    answers: z
      .array(z.string().max(10_000))
      .max(20)
      .nullable()
      .describe("one for each question, in their order; null turns the question down, which ends the run"),
    requestId,
    via,
  }),
]);

/** Those that the OpenAPI document refers to by name. */
export const NAMED_SCHEMAS = {
  BackgroundTask: taskSchema,
  Run: runSchema,
  AgentStats: agentStatsSchema,
  Stats: statsSchema,
  History: historySchema,
  TaskList: taskListSchema,
  TaskGroup: groupSchema,
  Message: messageSchema,
  Health: healthSchema,
  Trouble: troubleSchema,
  Instance: instanceSchema,
  Snapshot: snapshotSchema,
  Error: errorSchema,
  Launch: launchBodySchema,
  Resume: resumeBodySchema,
  Fork: forkBodySchema,
  Answer: answerBodySchema,
} satisfies Record<string, z.ZodType>;

export type BackgroundTask = z.infer<typeof taskSchema>;
export type TaskStatus = z.infer<typeof statusSchema>;
export type TaskRun = z.infer<typeof runSchema>;
export type TaskList = z.infer<typeof taskListSchema>;
export type TaskGroup = z.infer<typeof groupSchema>;
export type LogMessage = z.infer<typeof messageSchema>;
export type LogPart = z.infer<typeof messagePartSchema>;
export type Stats = z.infer<typeof statsSchema>;
export type AgentStats = z.infer<typeof agentStatsSchema>;
export type History = z.infer<typeof historySchema>;
export type Trouble = z.infer<typeof troubleSchema>;
export type Health = z.infer<typeof healthSchema>;
export type Instance = z.infer<typeof instanceSchema>;
export type Snapshot = z.infer<typeof snapshotSchema>;
export type ErrorBody = z.infer<typeof errorSchema>;
export type LaunchBody = z.infer<typeof launchBodySchema>;
export type ForkBody = z.infer<typeof forkBodySchema>;
export type AnswerBody = z.infer<typeof answerBodySchema>;
