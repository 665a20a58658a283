/**
 * The inbox on the wire: what needs a person, and the receipts that somebody saw a request or read how a run ended. No
 * behaviour.
 */
import { z } from "zod";
import { DOORS } from "../model/answer.ts";
import { INBOX_ANSWERS, INBOX_KINDS } from "../model/inbox.ts";
import { count, isoTime, limit, time, wholeCount } from "./fields.ts";
import { boardOperation, statusOperation } from "./operation.ts";
import { listLimit, wholeNumber } from "./query-fields.ts";
import { policySchema, taskSchema } from "./tasks.ts";

/** How long a failed run stays in the inbox if nobody reads its end. */
export const FAILED_HOURS = 72;

const kind = z.enum(INBOX_KINDS);

export const inboxEntrySchema = z.object({
  id: z.string().describe("stays the same while the entry is there"),
  kind: kind.describe(
    "blocked: a task that it starts after did not complete; failed: the run ended with an error; limit: it was stopped at a limit; conflict: its attempt could not be merged; budget: one is used up, and its runs were stopped",
  ),
  since: isoTime,
  text: z.string().describe("what is asked, or what went wrong; up to 2,000 characters"),
  isShortened: z.boolean(),
  answers: z
    .array(z.enum(INBOX_ANSWERS))
    .describe(
      "once, always, reject, text, decline: POST /v1/tasks/{taskId}/answer; approve, deny: decide_approval; start: POST /v1/tasks/{taskId}/edit with ifFailed run_anyway; cancel, resume and read: the same under /v1/tasks/{taskId}; raise: POST /v1/budgets/{budgetId}",
    ),
  taskId: z.string().nullable(),
  requestId: z.string().nullable().describe("of a permission or a question: an answer names it"),
  approvalId: z.string().nullable(),
  budgetId: z.string().nullable(),
  description: z.string().describe("the task's; who asked for an approval; what a budget is for"),
  agent: z.string().nullable(),
  host: z.string().nullable(),
  directory: z.string(),
  machine: z.string().describe("the machine that has the session; empty if only one uses the store"),
  parentSessionID: z.string().nullable().describe("the session that launched the task; null when a person did"),
  seen: z.array(z.enum(DOORS)).describe("where people have seen it"),
  policy: policySchema.nullable(),
});

export const inboxSchema = z.object({
  entries: z.array(inboxEntrySchema).describe("oldest first"),
  total: wholeCount.describe("how many there are; at least so many if isTruncated"),
  isTruncated: z.boolean(),
});

export type InboxPage = z.infer<typeof inboxSchema>;
export type WireInboxEntry = z.infer<typeof inboxEntrySchema>;

export const inboxOperations = {
  inbox: statusOperation({
    title: "What needs a person, oldest first",
    role: "read",
    input: z.object({
      limit: listLimit,
      failedHours: wholeNumber
        .default(FAILED_HOURS)
        .describe(`failed runs that ended earlier are left out; ${FAILED_HOURS} when absent`),
    }),
    output: inboxSchema,
    errors: ["invalid_input"],
  }),
  seen: statusOperation({
    title: "Record that a person was shown what a task waits for; once for each place",
    role: "answer",
    input: z.object({
      requestId: z.string().max(500),
      via: z.enum(DOORS).optional().describe("where; api when absent"),
    }),
    output: taskSchema,
    access: "token",
    isReceipt: true,
    errors: ["invalid_input", "too_large", "task_not_found"],
  }),
  read: statusOperation({
    title: "Record that a person has read how a task ended: it leaves the inbox",
    role: "answer",
    output: taskSchema,
    access: "token",
    errors: ["task_not_found", "task_running"],
  }),
};

const text = (meaning: string) => z.string().describe(meaning);

export const inboxBoardOperations = {
  list_inbox: boardOperation({
    title: "List what needs a person",
    role: "read",
    description:
      "Lists what waits for an answer on any host, oldest first. Questions can be answered with answer_question; permissions, approvals and failed runs are for people.",
    toolset: "extended",
    readOnly: true,
    input: z.object({ limit: limit(50) }),
    output: z.object({
      entries: z
        .array(
          z.object({
            kind: kind.describe("What it is"),
            asked: text("What is asked, or what went wrong"),
            handle: z.string().nullable().describe("The task; answer_question takes it"),
            description: text("What the task is about"),
            agent: z.string().nullable().describe("Who asks"),
            directory: text("Where it works"),
            since: time("Since when it waits"),
          }),
        )
        .describe("Oldest first"),
      count: count("How many there are"),
    }),
  }),
};
