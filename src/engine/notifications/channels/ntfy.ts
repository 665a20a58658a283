/**
 * ntfy: published as JSON, as plain text, never as Markdown. The id is the sequence id: servers from 2.16 on replace a
 * notification that is sent again, older ones ignore it.
 */
import type { NotificationKind } from "../../../model/notifications/notification.ts";
import { type ChannelRequest, type Outgoing, placeLine } from "./channel.ts";

const PRIORITY: Record<NotificationKind, number> = {
  ended: 3,
  failed: 4,
  needs_you: 4,
  budget: 4,
  summary: 3,
  test: 3,
};

const TAGS: Record<NotificationKind, string> = {
  ended: "white_check_mark",
  failed: "x",
  needs_you: "raised_hand",
  budget: "moneybag",
  summary: "memo",
  test: "bell",
};

interface NtfySettings {
  server: string;
  topic: string;
  token: string | undefined;
  priority: number | undefined;
  tags: readonly string[];
}

export function ntfyRequest(settings: NtfySettings, { id, content, link }: Outgoing): ChannelRequest {
  const { server, topic, token, priority = PRIORITY[content.kind], tags } = settings;
  const message = [content.text, placeLine(content)].filter((line) => line !== "").join("\n");
  const body = {
    topic,
    title: content.title,
    // The server would write "triggered" in place of an empty one.
    message: message || content.title,
    priority,
    tags: [TAGS[content.kind], ...tags],
    sequence_id: id,
    ...(link !== null && { click: link }),
  };
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  return { url: server, headers, body: JSON.stringify(body) };
}
