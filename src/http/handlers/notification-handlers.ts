/** The handlers about notifications. Only people send tests and try again: an agent could fill somebody's phone. */
import type { Notifier } from "../../engine/notifications/notifier.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import { type CallOrigin, callerName, isPerson } from "../../protocol/call-origin.ts";
import type { ApiContext } from "../api-context.ts";
import { wireNotification } from "../wire.ts";
import type { StatusHandlers } from "./status-handler.ts";

type Names =
  | "notifications"
  | "testNotification"
  | "retryNotification"
  | "pushKey"
  | "subscribePush"
  | "unsubscribePush";

export const notificationHandlers: StatusHandlers<Names> = {
  async notifications({ overview, notifier }, { input: { state, channel, limit } }) {
    const query = { limit, ...(state !== undefined && { state }), ...(channel !== undefined && { channel }) };
    const found = await overview.notifications(query);
    return { channels: (await notifier?.channels()) ?? [], notifications: found.map(wireNotification) };
  },
  testNotification: async (context, { input, origin }) =>
    wireNotification(await notifierOf(context, origin).test(input.channel)),
  retryNotification: async (context, { id, origin }) => wireNotification(await notifierOf(context, origin).retry(id)),
  pushKey: async ({ notifier }) => ({ publicKey: (await notifier?.pushKey()) ?? null }),
  async subscribePush(context, { input, origin }) {
    await notifierOf(context, origin).subscribe({ ...input, addedBy: callerName(origin) });
    return { subscribed: true };
  },
  async unsubscribePush(context, { input: { endpoint }, origin }) {
    await notifierOf(context, origin).unsubscribe(endpoint);
    return { subscribed: false };
  },
};

function notifierOf({ notifier }: ApiContext, origin: CallOrigin): Notifier {
  if (!isPerson(origin)) throw new AsyncAgentsError("not_allowed", "Only people can send notifications.");
  if (notifier !== null) return notifier;
  throw new AsyncAgentsError("not_allowed", "This server sends no notifications. Ask the daemon: asyncagents up");
}
