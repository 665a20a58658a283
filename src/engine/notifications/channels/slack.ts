/**
 * An incoming webhook as Slack has them, and others after its example. What tasks and agents wrote can neither format
 * the message, nor mention anybody, nor hide an address behind other words.
 */
import { type ChannelRequest, type Outgoing, placeLine } from "./channel.ts";

export function slackRequest({ url }: { url: string }, { content, link }: Outgoing): ChannelRequest {
  const lines = [content.title, content.text, placeLine(content)].filter((line) => line !== "").map(escaped);
  const text = [...lines, ...(link === null ? [] : [`<${link}>`])].join("\n");
  const body = { text, mrkdwn: false, link_names: 0, parse: "none", unfurl_links: false, unfurl_media: false };
  return { url, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** Slack reads `<…>` as links and mentions; others also read `@name` and `[words](address)`. */
function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/@(?=\w)/g, "@\u200b")
    .replaceAll("](", "] (");
}
