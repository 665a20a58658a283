/** Notifications for people outside on the wire: the channels of a server, and what each was told. No behaviour. */
import { z } from "zod";
import { isoTime, wholeCount } from "./fields.ts";
import { statusOperation } from "./operation.ts";
import { filter, listLimit } from "./query-fields.ts";

const STATES = ["pending", "held", "merged", "delivered", "failed"] as const;
const KINDS = ["ended", "failed", "needs_you", "budget", "summary", "test"] as const;

export const notificationSchema = z.object({
  id: z.string().describe("the same however often it is sent: receivers recognise it"),
  channel: z.string(),
  kind: z
    .enum(KINDS)
    .describe("budget: a run was stopped at a limit, or a budget is used up, or 80 % of it; summary: several in one"),
  title: z.string(),
  taskId: z.string().nullable(),
  state: z
    .enum(STATES)
    .describe("held: waits for the end of quiet hours; merged: a summary tells it; failed: given up"),
  happenedAt: isoTime,
  createdAt: isoTime,
  dueAt: isoTime.describe("when it is tried next, if it is pending or held"),
  settledAt: isoTime.nullable(),
  attempts: wholeCount,
  reason: z.string().nullable().describe("why the last attempt failed"),
});

export const channelSchema = z.object({
  name: z.string(),
  type: z.enum(["ntfy", "webhook", "slack", "push"]),
  target: z.string().describe("where it goes, without anything secret"),
  problem: z.string().nullable().describe("why this server cannot use it"),
  failing: z.string().nullable().describe("why what it was told last has not arrived; null if it has"),
  pending: wholeCount,
  held: wholeCount,
  failed: wholeCount,
});

export const notificationsSchema = z.object({
  channels: z.array(channelSchema).describe("those that this server is configured with"),
  notifications: z.array(notificationSchema).describe("newest first; they are kept for a week after they were sent"),
});

export type NotificationsPage = z.infer<typeof notificationsSchema>;
export type WireNotification = z.infer<typeof notificationSchema>;
export type WireChannel = z.infer<typeof channelSchema>;

const base64url = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[\w-]+$/, "must be base64url");

export const notificationOperations = {
  pushKey: statusOperation({
    title: "The public key for Web Push; null if no channel of this server uses it",
    role: "read",
    output: z.object({ publicKey: z.string().nullable() }),
  }),
  subscribePush: statusOperation({
    title: "Send notifications to a browser by Web Push",
    role: "answer",
    input: z.object({
      endpoint: z.string().max(1000).describe("at the push service of a known browser, as the browser gave it"),
      p256dh: base64url(100).describe("the browser's public key"),
      auth: base64url(40).describe("the browser's secret"),
    }),
    output: z.object({ subscribed: z.boolean() }),
    access: "token",
    errors: ["invalid_input", "too_large"],
  }),
  unsubscribePush: statusOperation({
    title: "Send a browser no more notifications",
    role: "answer",
    input: z.object({ endpoint: z.string().max(1000) }),
    output: z.object({ subscribed: z.boolean() }),
    access: "token",
    errors: ["invalid_input", "too_large"],
  }),
  notifications: statusOperation({
    title: "The channels for notifications, and what was sent to them, newest first",
    role: "read",
    input: z.object({
      state: filter.pipe(z.enum(STATES).optional()),
      channel: filter,
      limit: listLimit,
    }),
    output: notificationsSchema,
    errors: ["invalid_input"],
  }),
  testNotification: statusOperation({
    title: "Send a test to a channel, whatever the rules and the time",
    role: "admin",
    input: z.object({ channel: z.string().max(100) }),
    output: notificationSchema,
    access: "token",
    errors: ["invalid_input", "too_large"],
  }),
  retryNotification: statusOperation({
    title: "Try a failed notification again",
    role: "admin",
    output: notificationSchema,
    access: "token",
    errors: ["not_found"],
  }),
};
