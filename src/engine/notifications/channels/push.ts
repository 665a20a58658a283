/**
 * Web Push: every browser that a person has subscribed gets the notification, encrypted for it alone. One that is gone
 * is forgotten. A browser replaces a notification that comes again, because its tag is the id.
 */
import { newPushKeys, pushRequest } from "../../../process/web-push.ts";
import type { PushRecords } from "../../../store/notifications/records.ts";
import type { ChannelTarget, Outgoing } from "./channel.ts";

/** Push services refuse more than about 4 kB. */
const TEXT_CHARS = 600;

export async function pushTargets(push: PushRecords | null, contact: string, now: number): Promise<ChannelTarget[]> {
  if (push === null) return [];
  const keys = await push.keys(newPushKeys());
  return (await push.subscriptions(now)).map((subscription) => ({
    key: subscription.endpoint,
    request: (outgoing) => {
      const urgency = outgoing.content.kind === "ended" ? "normal" : "high";
      return pushRequest(subscription, { keys, contact, payload: payloadOf(outgoing), urgency, at: outgoing.at });
    },
    gone: async () => void (await push.unsubscribe(subscription.endpoint)),
  }));
}

/** The page opens the path on its own address, so no public address is needed. */
function payloadOf({ id, content: { title, text, taskId } }: Outgoing): string {
  const path = taskId === null ? "/" : `/tasks/${encodeURIComponent(taskId)}`;
  return JSON.stringify({ id, title, text: text.slice(0, TEXT_CHARS), path });
}
