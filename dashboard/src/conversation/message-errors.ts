/**
 * Finds failed messages: those that ended with an error, and those with a failed tool call. Pure.
 */
import type { LogMessage } from "../../../src/protocol/conversations.ts";

export function hasError({ error, parts }: LogMessage): boolean {
  return error !== null || parts.some((part) => part.type === "tool" && part.state === "error");
}

/** The first one after that message. */
export function nextError(messages: readonly LogMessage[], afterId: string): LogMessage | undefined {
  const at = messages.findIndex(({ id }) => id === afterId);
  return messages.slice(at + 1).find(hasError);
}
