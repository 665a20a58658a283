/**
 * Follow-up prompts on the wire: the operations that send, queue, cancel and list them. No behaviour.
 */
import { z } from "zod";
import { count, limit, PROMPT_CHARS, requestId, text, time, uuid, variant } from "../fields.ts";
import { boardOperation } from "../operation.ts";

const queuedMessage = z.object({
  session_id: uuid("The session that it waits for"),
  message: z.string().describe("The prompt, the first 2,000 characters"),
  variant: z.string().nullable().describe("The agent that was asked for; null for the session's own"),
  queued_at: time("When it was queued"),
});

export const followUpOperations = {
  follow_up: boardOperation({
    title: "Follow up",
    role: "launch",
    description:
      "Continues a session. send: runs the prompt now, refused while the session is busy. queue: keeps it, also over restarts, until the session is idle; first in, first out. cancel: removes all that is queued. Give attempt_id or session_id, not both.",
    toolset: "core",
    destructive: true,
    openWorld: true,
    startsAgent: true,
    input: z.looseObject({
      attempt_id: uuid("The attempt, for its latest session").optional(),
      session_id: uuid("The session").optional(),
      action: z.enum(["send", "queue", "cancel"]).describe("send, queue or cancel"),
      prompt: text("What the agent is to do; needed for send and queue", PROMPT_CHARS).optional(),
      variant,
      request_id: requestId,
    }),
    output: z.object({
      session_id: uuid("The session"),
      action: z.enum(["send", "queue", "cancel"]).describe("The action that was done"),
      run: count("send: the number of the run that was started (the first prompt was run 0)").optional(),
      status: z.enum(["empty", "queued"]).describe("Whether prompts are queued for the session now"),
      queued_count: count("How many are queued now"),
      queued_message: queuedMessage.optional().describe("The next one that will run; absent when none is queued"),
    }),
  }),
  list_follow_ups: boardOperation({
    title: "List queued follow-ups",
    role: "read",
    description:
      "Lists the prompts that are queued for an attempt's latest session, in the order in which they will run.",
    peopleOnly: true,
    readOnly: true,
    input: z.object({ attempt_id: uuid("The attempt"), limit: limit(50) }),
    output: z.object({
      attempt_id: uuid("The attempt"),
      session_id: uuid("Its latest session; null while there is none").nullable(),
      follow_ups: z
        .array(
          z.object({
            message: z.string().describe("The prompt, the first 10,000 characters"),
            variant: z.string().nullable().describe("The agent that was asked for; null for the session's own"),
            queued_at: time("When it was queued"),
            error: z.string().nullable().describe("Why it could not begin when it was its turn; null otherwise"),
          }),
        )
        .describe("The first of the queue, at most limit"),
      queued_count: count("How many are queued in all"),
      queue_held: z
        .string()
        .nullable()
        .describe("Why they wait although the session is idle, and how to go on; null otherwise"),
    }),
  }),
};
