/**
 * Tasks of the status API on the wire: a task, its runs, lists of them, and the operations that list, read, launch,
 * cancel, resume, fork and answer them. No behaviour.
 */
import { z } from "zod";
import { IF_FAILED } from "../model/after.ts";
import { ANSWERERS, DOORS, REPLIES } from "../model/answer.ts";
import type { ErrorCode } from "../model/errors.ts";
import { MAX_NAME, PAUSE_CAUSES, PHASES } from "../model/task.ts";
import { BUDGET_FORM, budgetText } from "./budgets.ts";
import { afterChoices, isoTime, queueChoices, statusSchema, wholeCount } from "./fields.ts";
import { statusOperation } from "./operation.ts";
import { isInOrder, listLimit, OUT_OF_ORDER, selectionLimit, taskFilters, wholeNumber } from "./query-fields.ts";
import { queuePlaceSchema } from "./runners.ts";

export const tokensSchema = z.object({
  input: z.number(),
  output: z.number(),
  reasoning: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
});

const progressSchema = z.object({
  toolCalls: wholeCount,
  toolCallsByName: z.record(z.string(), wholeCount),
  lastTools: z.array(z.string()).describe("the newest tools by name, newest last"),
  lastUpdate: isoTime.describe("when the agent last showed a sign of work"),
  tokens: tokensSchema,
  cost: z.number().describe("in US dollars, as the host reports it"),
});

export const policySchema = z
  .object({ until: isoTime, decision: z.enum(["allow", "deny"]), reason: z.string() })
  .describe("what a written rule does if nobody has answered by then");

const answerFields = {
  reply: z.enum(REPLIES),
  by: z
    .enum(ANSWERERS)
    .describe("from where; host: the agent's own program, model: an agent over MCP, policy: a written rule"),
  who: z.string().optional().describe("the name of the token that it came with"),
  asked: z.string().optional().describe("the beginning of what was asked"),
  text: z.string().optional().describe("the beginning of what was answered, or told with a rejection"),
  at: isoTime,
};

const phaseDetailSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("after") }).describe("it starts when the tasks of after have ended"),
  z
    .object({ kind: z.literal("blocked"), by: z.string(), text: z.string(), at: isoTime })
    .describe("the task by, which it starts after, did not complete: a person has to decide"),
  z.object({
    kind: z.literal("retrying"),
    reason: z.string(),
    count: wholeCount,
    next: isoTime.optional().describe("when the host tries again"),
    until: isoTime.optional().describe("when the provider said that it will be back"),
  }),
  z
    .object({
      kind: z.literal("paused"),
      cause: z.enum(PAUSE_CAUSES).describe("quota: the provider named the time; stall: it is restarted"),
      until: isoTime.describe("when the run goes on by itself"),
      reason: z.string(),
      count: wholeCount.describe("how often the run was paused for this cause"),
    })
    .describe("nothing is at work until then"),
  z.object({
    kind: z.literal("waiting"),
    requestId: z.string(),
    asks: z.enum(["permission", "question"]),
    text: z.string(),
    at: isoTime.optional().describe("when it was asked"),
    seen: z.array(z.enum(DOORS)).optional().describe("where people have seen it"),
    policy: policySchema.optional(),
  }),
  z
    .object({
      kind: z.literal("answered"),
      requestId: z.string(),
      ...answerFields,
      appliedAt: isoTime.optional().describe("when the agent then showed that it went on"),
    })
    .describe(
      "what was asked last, and how it was answered; stays when the run ends, until something else is to be said",
    ),
]);

const noticeSchema = z.object({
  kind: z.enum(["ended", "waiting", "retrying", "stalled", "budget"]),
  state: z.enum(["pending", "sending", "delivered", "dropped"]),
  attempts: wholeCount,
  reason: z
    .string()
    .nullable()
    .describe("why the last try failed, or why it was dropped; for a program, how it was told"),
  nextTryAt: isoTime.nullable().describe("when it is tried again"),
  to: z.string().describe("who is told, for people: the parent's session, or the program that launched it over MCP"),
  settledAt: isoTime.nullable().describe("when it was delivered or dropped"),
});

const changesSchema = z.object({
  path: z.string().describe("the worktree"),
  repo: z.string(),
  branch: z.string(),
  targetBranch: z.string().describe("where its work is to be merged"),
  fileCount: wholeCount,
  insertions: wholeCount,
  deletions: wholeCount,
  files: z.array(z.string()).describe("the first 20"),
  uncommittedCount: wholeCount,
  commits: wholeCount.describe("those that the target branch lacks"),
  conflicts: z
    .array(z.object({ file: z.string(), taskId: z.string() }))
    .describe("files that other live tasks of the repository have changed, too; the first 20"),
  incomplete: z.string().nullable().describe("what git could not read"),
});

export const taskSchema = z.object({
  id: z.string(),
  sessionID: z
    .string()
    .describe(
      "the host's session in which the task runs; the task's id in OpenCode, empty while it waits for a runner",
    ),
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
  startedAt: isoTime,
  completedAt: isoTime.nullable(),
  resultRetrievedAt: isoTime.nullable(),
  result: z.string().nullable(),
  error: z.string().nullable(),
  shortened: z
    .array(z.enum(["prompt", "result", "error"]))
    .describe("texts that were cut to 8 KB here; /v1/tasks/{id} has them in full"),
  progress: progressSchema,
  batchId: z.string(),
  resumeCount: wholeCount,
  isForked: z.boolean(),
  run: z
    .object({ number: wholeCount, startedAt: isoTime, endedAt: isoTime.nullable() })
    .describe("the newest run: 0 is the launch, then one more for each resume"),
  host: z.string(),
  directory: z.string(),
  machine: z
    .string()
    .nullable()
    .describe("the machine that has its session and its directory; null if unknown, or only one uses the store"),
  instance: z.string().nullish().describe("what runs it: one of /v1/instances if this server does; null once it ended"),
  clone: z
    .object({ hostname: z.string(), remote: z.string(), branch: z.string() })
    .nullable()
    .describe("set if a runner cloned its repository: directory is then on that machine, with this branch"),
  queue: queuePlaceSchema.optional().describe("while it waits for a runner; not in events"),
  after: z
    .object({ tasks: z.array(z.string()), ifFailed: z.enum(IF_FAILED) })
    .nullable()
    .describe("the ids of the tasks that it starts after, and what happens if one of them does not complete"),
  clearedAt: isoTime.nullable().describe("when it left its parent's view; it stays in the history"),
  cancelRequestedAt: isoTime.nullable(),
  changes: changesSchema
    .nullable()
    .optional()
    .describe("what it changed in its own worktree, null where it has none; only in /v1/tasks/{id}"),
  beganAt: isoTime
    .nullable()
    .optional()
    .describe("when its newest run began to work, after it waited; null if it still waits; only in /v1/tasks/{id}"),
  answers: z
    .array(z.object({ requestId: z.string(), run: wholeCount, ...answerFields }))
    .optional()
    .describe("how what it asked was answered, oldest first, the newest 50; only in /v1/tasks/{id}"),
  notice: noticeSchema
    .nullable()
    .optional()
    .describe("the newest notice to its parent, null where there is none; only in /v1/tasks/{id}"),
});

export const runSchema = z.object({
  taskId: z.string(),
  number: wholeCount,
  prompt: z.string().describe("the first 2 KB; the task has the newest run's in full"),
  startedAt: isoTime,
  endedAt: isoTime.nullable(),
  outcome: z.enum(["completed", "error", "cancelled"]).nullable(),
  error: z.string().nullable(),
});

export const taskListSchema = z.object({
  tasks: z.array(taskSchema),
  total: wholeCount.describe("how many match, before limit and offset"),
  limit: wholeCount,
  offset: wholeCount,
});

export const launchBodySchema = z.object({
  description: z.string().describe("a few words"),
  prompt: z.string(),
  agent: z.string().max(MAX_NAME).optional().describe("the host's own choice when absent"),
  host: z
    .string()
    .max(MAX_NAME)
    .optional()
    .describe("opencode, claude, …; with it the daemon opens the directory where nobody serves it"),
  directory: z.string().optional().describe("where it works; needed when this process serves several"),
  batch: z.string().optional().describe("a name; tasks with the same name form one group"),
  model: z.string().max(MAX_NAME).optional().describe("provider/model; the agent's own when absent. Only with queue"),
  budget: budgetText.optional().describe(`what it and everything below it may use, such as ${BUDGET_FORM}`),
  queue: queueChoices.describe("any runner may do it: the task waits for one, and has no session until then"),
  ...afterChoices,
  worktree: z.boolean().optional().describe("it works in a new git worktree of the directory, on its own branch"),
});

export const editBodySchema = z.object({
  ...afterChoices,
  prompt: z.string().optional().describe("what to do instead"),
});

export const resumeBodySchema = z.object({ prompt: z.string() });

export const forkBodySchema = z.object({
  prompt: z.string(),
  description: z.string().optional().describe("a few words; those of the task when absent"),
  agent: z.string().max(MAX_NAME).optional().describe("the task's own when absent"),
});

const requestId = z
  .string()
  .optional()
  .describe("of what is answered, as in phaseDetail: an answer to something else is then refused");

const via = z
  .enum(["dashboard", "command line", "panel"])
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

export type BackgroundTaskStatus = z.infer<typeof statusSchema>;
export type BackgroundTask = z.infer<typeof taskSchema>;
export type BackgroundTaskRun = z.infer<typeof runSchema>;
export type TaskList = z.infer<typeof taskListSchema>;
export type LaunchBody = z.infer<typeof launchBodySchema>;
export type EditBody = z.infer<typeof editBodySchema>;
export type ForkBody = z.infer<typeof forkBodySchema>;
export type AnswerBody = z.infer<typeof answerBodySchema>;

/** What starting an agent may fail with. */
const START_ERRORS: readonly ErrorCode[] = [
  "invalid_input",
  "too_large",
  "host_unavailable",
  "host_failed",
  "outcome_unknown",
];
/** The same, where it starts with the history of a task that has ended. */
const CONTINUE_ERRORS: readonly ErrorCode[] = [
  ...START_ERRORS,
  "approval_needed",
  "task_not_found",
  "task_running",
  "session_gone",
];

export const taskOperations = {
  tasks: statusOperation({
    title: "Tasks of all processes, newest first unless sorted otherwise",
    role: "read",
    input: z
      .object({
        ...taskFilters,
        limit: listLimit,
        offset: wholeNumber.default(0).describe("how many to pass over"),
      })
      .refine(isInOrder, OUT_OF_ORDER),
    output: taskListSchema,
    errors: ["invalid_input"],
  }),
  selection: statusOperation({
    title: "All tasks that match at one moment, by id: for an action on each of them",
    role: "read",
    input: z.object({ ...taskFilters, limit: selectionLimit }).refine(isInOrder, OUT_OF_ORDER),
    output: z.object({
      tasks: z.array(z.object({ id: z.string(), description: z.string(), status: statusSchema })),
      total: wholeCount.describe("how many match, before limit"),
    }),
    errors: ["invalid_input"],
  }),
  task: statusOperation({
    title: "One task with its whole result",
    role: "read",
    output: taskSchema,
    errors: ["task_not_found"],
  }),
  runs: statusOperation({
    title: "The runs of a task, newest first; at most 200",
    role: "read",
    output: z.array(runSchema),
    errors: ["task_not_found"],
  }),
  launch: statusOperation({
    title: "Launch a task",
    role: "launch",
    input: launchBodySchema,
    output: taskSchema,
    status: 201,
    access: "token",
    startsAgent: true,
    errors: [...START_ERRORS, "unknown_agent", "over_budget", "too_many_tasks", "depth_exceeded", "task_not_found"],
  }),
  edit: statusOperation({
    title: "Change a task that waits to start: what it starts after, or its prompt",
    role: "launch",
    input: editBodySchema,
    output: taskSchema,
    access: "token",
    startsAgent: true,
    errors: ["invalid_input", "too_large", "task_not_found", "task_not_live", "too_many_tasks", "not_allowed"],
  }),
  cancel: statusOperation({
    title: "Cancel a live task",
    role: "launch",
    stopsAgent: true,
    output: taskSchema,
    access: "token",
    errors: ["task_not_found", "task_not_live", "host_unavailable", "host_failed"],
  }),
  remove: statusOperation({
    title: "Remove an ended task for good, with its runs, result and events; its session stays in the host",
    role: "admin",
    output: z.object({
      id: z.string(),
      removed: z.record(z.string(), wholeCount).describe("how many rows of each kind"),
    }),
    access: "token",
    errors: ["task_not_found", "task_running", "task_needed", "not_allowed"],
  }),
  attach: statusOperation({
    title: "What opens a task's session in the agent's own program; only the daemon of its machine can say",
    role: null,
    output: z.object({
      program: z.string(),
      arguments: z.array(z.string()),
      environment: z.record(z.string(), z.string()).describe("in addition to the caller's own; may hold a password"),
      directory: z.string().describe("where to start it"),
      live: z.boolean().describe("whether a run is going on in the session"),
    }),
    access: "token",
    errors: ["task_not_found", "session_missing", "host_unavailable", "host_unsupported", "not_allowed"],
  }),
  resume: statusOperation({
    title: "Continue a completed task with a new prompt",
    role: "launch",
    input: resumeBodySchema,
    output: taskSchema,
    access: "token",
    startsAgent: true,
    errors: [...CONTINUE_ERRORS, "over_budget", "task_resuming", "task_not_resumable"],
  }),
  fork: statusOperation({
    title: "Launch a task with the history of one that has ended",
    role: "launch",
    input: forkBodySchema,
    output: taskSchema,
    status: 201,
    access: "token",
    startsAgent: true,
    errors: [...CONTINUE_ERRORS, "unknown_agent", "host_unsupported"],
  }),
  tell: statusOperation({
    title: "Tell a task's parent again what could not be delivered, or was dropped",
    role: "launch",
    output: taskSchema,
    access: "token",
    errors: ["task_not_found", "nothing_to_tell", "host_unavailable", "outcome_unknown"],
  }),
  answer: statusOperation({
    title: "Answer what a task waits for: a permission or a question",
    role: "answer",
    input: answerBodySchema,
    output: taskSchema,
    access: "token",
    errors: [
      "invalid_input",
      "too_large",
      "task_not_found",
      "nothing_asked",
      "host_unsupported",
      "host_unavailable",
      "host_failed",
      "outcome_unknown",
    ],
  }),
};
