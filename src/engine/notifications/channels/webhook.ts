/**
 * A webhook, signed as the Standard Webhooks specification says: HMAC-SHA256 over id, time and body, with the id and
 * the time in headers. Receivers refuse old times, and recognise what they have by its id.
 */
import { createHmac } from "node:crypto";
import type { ChannelRequest, Outgoing } from "./channel.ts";

interface WebhookSettings {
  url: string;
  secret: string | undefined;
}

export function webhookRequest({ url, secret }: WebhookSettings, { id, content, link, at }: Outgoing): ChannelRequest {
  const { kind, title, text, taskId, run, description, agent, host, directory, count } = content;
  const task = taskId === null ? null : { id: taskId, run, description, agent, host, directory };
  const body = JSON.stringify({ id, kind, at: new Date(content.at).toISOString(), title, text, count, task, link });
  const timestamp = String(Math.floor(at / 1000));
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    ...(secret && { "webhook-signature": `v1,${signature(secret, `${id}.${timestamp}.${body}`)}` }),
  };
  return { url, headers, body };
}

function signature(secret: string, text: string): string {
  return createHmac("sha256", keyOf(secret)).update(text).digest("base64");
}

/** `whsec_` is followed by the key in base64; any other secret is the key itself. */
function keyOf(secret: string): Buffer {
  return secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);
}
