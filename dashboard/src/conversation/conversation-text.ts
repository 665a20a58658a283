/**
 * A complete conversation as plain text, for the clipboard. Pure.
 */
import type { LogMessage, LogPart } from "../../../src/protocol/conversations.ts";

export function conversationText(messages: readonly LogMessage[]): string {
  return messages.map(messageText).join("\n\n");
}

function messageText(message: LogMessage): string {
  const who = message.role === "user" ? "User" : (message.agent ?? "Assistant");
  const error = message.error === null ? [] : [`Error: ${message.error}`];
  return [`## ${who}, ${message.at}`, ...message.parts.map(partText), ...error].join("\n\n");
}

function partText(part: LogPart): string {
  switch (part.type) {
    case "text":
      return part.hidden ? `[for the model]\n${part.text}` : part.text;
    case "reasoning":
      return `[reasoning]\n${part.text}`;
    case "tool": {
      const end = part.error === null ? (part.output ?? "") : `Error: ${part.error}`;
      return `[tool ${part.name}: ${part.state}]\n${JSON.stringify(part.input, null, 2)}\n${end}`.trimEnd();
    }
    case "file":
      return `[file ${part.name ?? part.mime}]`;
    case "other":
      return `[other]\n${JSON.stringify(part.raw, null, 2)}`;
  }
}
