/**
 * The conversation of a task on the wire: its messages, their parts, and the operation that reads them. No behaviour.
 */
import { z } from "zod";
import { TOOL_STATES } from "../model/message.ts";
import { isoTime } from "./fields.ts";
import { statusOperation } from "./operation.ts";
import { filter, messageLimit } from "./query-fields.ts";
import { tokensSchema } from "./tasks.ts";

const toolPartSchema = z.object({
  type: z.literal("tool"),
  callId: z.string(),
  name: z.string(),
  state: z.enum(TOOL_STATES),
  title: z.string().nullable(),
  input: z.unknown(),
  output: z.string().nullable(),
  error: z.string().nullable(),
  startedAt: isoTime.nullable(),
  endedAt: isoTime.nullable(),
});

const messagePartSchema = z.discriminatedUnion("type", [
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
  at: isoTime,
  endedAt: isoTime.nullable(),
  agent: z.string().nullable(),
  model: z.string().nullable(),
  error: z.string().nullable(),
  tokens: tokensSchema.nullable(),
  cost: z.number().nullable(),
  parts: z.array(messagePartSchema),
});

export type LogMessage = z.infer<typeof messageSchema>;
export type LogPart = z.infer<typeof messagePartSchema>;

export const conversationOperations = {
  logs: statusOperation({
    title: "The conversation of a task, oldest first, nothing masked",
    role: "read",
    input: z.object({
      limit: messageLimit.describe("read one page of this many messages; all when absent"),
      before: filter.describe("the x-next-cursor of the page after this one"),
    }),
    output: z.array(messageSchema),
    errors: ["task_not_found", "session_gone", "host_unavailable", "host_failed", "invalid_input"],
  }),
};
