/**
 * Messages into running tasks on the wire: a message with its receipt, and the operations that send, list and cancel
 * them. No behaviour.
 */
import { z } from "zod";
import { STEERING_STATES } from "../model/steering.ts";
import { isoTime, wholeCount } from "./fields.ts";
import { statusOperation } from "./operation.ts";

/** The longest time that one call waits for a receipt. */
const MAX_WAIT_MS = 50_000;

export const steeringSchema = z.object({
  id: z.string(),
  taskId: z.string(),
  run: wholeCount.describe("the run that it is for"),
  text: z.string(),
  by: z.string().describe("who sent it: a name, or the session of an agent"),
  state: z
    .enum(STEERING_STATES)
    .describe(
      "accepted: stored. sent: in the agent's session, where it is read at the next step. delivered: the agent took it up. failed, cancelled: it did not",
    ),
  messageID: z.string().nullable().describe("its id in the agent's conversation; null until it is sent"),
  reason: z.string().nullable().describe("why it failed, or who cancelled it"),
  acceptedAt: isoTime,
  sentAt: isoTime.nullable(),
  settledAt: isoTime.nullable().describe("when it was delivered, failed or was cancelled"),
});

export const steerBodySchema = z.object({
  text: z.string().max(50_000),
  waitMs: z
    .number()
    .int()
    .min(0)
    .max(MAX_WAIT_MS)
    .optional()
    .describe("wait up to so many milliseconds until it is delivered or failed; 0 when absent"),
});

export type SteeringReceipt = z.infer<typeof steeringSchema>;
export type SteerBody = z.infer<typeof steerBodySchema>;

export const steeringOperations = {
  steer: statusOperation({
    title: "Send a message into a running task",
    role: "launch",
    input: steerBodySchema,
    output: steeringSchema,
    status: 201,
    access: "token",
    // The agent goes on with what it is told, as after a resume.
    startsAgent: true,
    errors: ["invalid_input", "too_large", "approval_needed", "task_not_found", "task_not_live", "too_many_requests"],
  }),
  steering: statusOperation({
    title: "The messages that were sent into a task's runs, oldest first; the newest 100",
    role: "read",
    output: z.array(steeringSchema),
    errors: ["task_not_found"],
  }),
  cancelSteering: statusOperation({
    title: "Cancel a message that was not sent yet",
    role: "launch",
    output: steeringSchema,
    access: "token",
    errors: ["not_found", "not_cancellable"],
  }),
};
