/**
 * Plans how to fit the history of a forked session into a token limit. The newest tool outputs are kept in full, older
 * ones are shortened (head and tail kept), then the oldest turns are dropped; if the last turn alone is still too
 * large, its longest texts are shortened too. Pure: calls no host.
 */

export interface CondenseLimits {
  tokens: number;
  wholeOutputs: number;
  recentOutputs: number;
  recentChars: number;
  olderChars: number;
}

export interface CondensePart {
  id: string;
  kind: "text" | "output";
  text: string;
}

export interface CondenseMessage {
  id: string;
  role: "user" | "assistant";
  /** Characters that are neither text nor tool output (tool inputs, files). */
  otherChars: number;
  parts: CondensePart[];
}

interface CondensePlan {
  /** Messages to remove. */
  drop: string[];
  /** New texts by part. */
  rewrite: { messageId: string; partId: string; text: string }[];
}

/** Tells the agent of a fork about the history it gets. */
export const FORK_PREAMBLE =
  "You are a background agent working on a copy of the conversation above. Parts of it may be truncated: older tool " +
  "outputs are shortened and the oldest messages may be missing. If you need the complete content of a file or an " +
  "output, read it again instead of relying on what is shown. Your task follows in the next message.";

const CHARS_PER_TOKEN = 4;

/** Keeps the head and tail of a text that exceeds the limit, and says how much was cut. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = Math.ceil(limit * 0.7);
  const tail = Math.max(0, limit - head);
  const cut = text.length - head - tail;
  return `${text.slice(0, head)}\n… [${cut} characters cut] …\n${tail > 0 ? text.slice(-tail) : ""}`;
}

/** Expects the oldest message first. */
export function planCondense(messages: readonly CondenseMessage[], limits: CondenseLimits): CondensePlan {
  const texts = shortenOutputs(messages, limits);
  const budget = limits.tokens * CHARS_PER_TOKEN;
  const size = (message: CondenseMessage) =>
    message.otherChars + message.parts.reduce((sum, part) => sum + (texts.get(part.id) ?? part.text).length, 0);
  const kept = dropOldestTurns(messages, size, budget);
  cutLongest(kept, texts, size, budget);
  const keptIds = new Set(kept.map((message) => message.id));
  return {
    drop: messages.filter((message) => !keptIds.has(message.id)).map((message) => message.id),
    rewrite: kept.flatMap((message) =>
      message.parts.flatMap((part) => {
        const text = texts.get(part.id);
        return text === undefined ? [] : [{ messageId: message.id, partId: part.id, text }];
      }),
    ),
  };
}

function shortenOutputs(messages: readonly CondenseMessage[], limits: CondenseLimits): Map<string, string> {
  const texts = new Map<string, string>();
  const outputs = messages.flatMap((message) => message.parts.filter((part) => part.kind === "output")).reverse();
  for (const [age, part] of outputs.entries()) {
    if (age < limits.wholeOutputs) continue;
    const limit = age < limits.wholeOutputs + limits.recentOutputs ? limits.recentChars : limits.olderChars;
    const cut = shorten(part.text, limit);
    // Just above the limit, the marker is longer than the text it replaces.
    if (cut.length < part.text.length) texts.set(part.id, cut);
  }
  return texts;
}

/** A turn begins with a user message. Drops whole turns, so that no answer loses its question. */
function dropOldestTurns(
  messages: readonly CondenseMessage[],
  size: (message: CondenseMessage) => number,
  budget: number,
): CondenseMessage[] {
  let total = messages.reduce((sum, message) => sum + size(message), 0);
  let start = 0;
  while (total > budget) {
    const next = messages.findIndex((message, index) => index > start && message.role === "user");
    if (next === -1) break;
    for (const message of messages.slice(start, next)) total -= size(message);
    start = next;
  }
  return messages.slice(start);
}

function cutLongest(
  kept: readonly CondenseMessage[],
  texts: Map<string, string>,
  size: (message: CondenseMessage) => number,
  budget: number,
): void {
  const parts = kept.flatMap((message) => message.parts);
  const textOf = (part: CondensePart) => texts.get(part.id) ?? part.text;
  let over = kept.reduce((sum, message) => sum + size(message), 0) - budget;
  const longest = [...parts].sort((a, b) => textOf(b).length - textOf(a).length);
  for (const part of longest) {
    if (over <= 0) return;
    const text = textOf(part);
    const limit = Math.max(200, text.length - over - 64);
    const cut = shorten(text, limit);
    if (cut.length >= text.length) continue;
    texts.set(part.id, cut);
    over -= text.length - cut.length;
  }
}
