/**
 * Reads an agent's transcript: one JSON object per line, appended by Claude while the agent works. Skips an incomplete
 * last line and everything that is not a message.
 */
import { z } from "zod";

const word = z.string().optional().catch(undefined);
const blockSchema = z.looseObject({ type: z.string(), text: word, name: word });
const count = z.number().catch(0);

/** On answers: several lines share the id of one answer, each with one part of it. */
const answerSchema = z.object({
  id: z.string(),
  model: z.string(),
  usage: z.object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  }),
});

const lineSchema = z.looseObject({
  type: z.enum(["user", "assistant"]),
  uuid: word,
  timestamp: word,
  message: z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(blockSchema)]) }),
});

/** One message of an agent's conversation. */
export interface TranscriptMessage {
  role: "user" | "assistant";
  /** Its text blocks, joined; empty if it has none. */
  text: string;
  /** The names of the tools that it calls. */
  toolCalls: string[];
  uuid?: string;
  /** ISO 8601. */
  timestamp?: string;
  /** The message in the form of the Messages API. */
  message: { role: string; content: unknown };
}

/** Tokens of one model. */
export interface TokenCount {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** What the agent's requests used, by model name. */
export function tokensByModel(messages: readonly TranscriptMessage[]): Record<string, TokenCount> {
  const answers = new Map<string, z.infer<typeof answerSchema>>();
  for (const { message } of messages) {
    const answer = answerSchema.safeParse(message).data;
    if (answer) answers.set(answer.id, answer);
  }
  const counts: Record<string, TokenCount> = {};
  for (const { model, usage } of answers.values()) {
    const before = counts[model] ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    counts[model] = {
      input: before.input + usage.input_tokens,
      output: before.output + usage.output_tokens,
      cacheRead: before.cacheRead + usage.cache_read_input_tokens,
      cacheWrite: before.cacheWrite + usage.cache_creation_input_tokens,
    };
  }
  return counts;
}

/** Undefined if the text is not a transcript. */
export function parseTranscript(text: string): TranscriptMessage[] | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const values = lines.map(parseLine);
  const isTranscript = typeof values[0] === "object" && values[0] !== null && "type" in values[0];
  return isTranscript ? values.flatMap(messageOf) : undefined;
}

/** The agent's texts in order, without its tools. */
export function spokenText(messages: readonly TranscriptMessage[]): string {
  const said = messages.filter(({ role, text }) => role === "assistant" && text.trim() !== "");
  return said.map(({ text }) => text).join("\n\n");
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function messageOf(value: unknown): TranscriptMessage[] {
  const parsed = lineSchema.safeParse(value);
  if (!parsed.success) return [];
  const { type: role, uuid, timestamp, message } = parsed.data;
  const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
  const texts = blocks.filter(({ type }) => type === "text").map(({ text }) => text ?? "");
  const toolCalls = blocks.flatMap((block) => (block.type === "tool_use" && "name" in block ? [block.name ?? ""] : []));
  return [{ role, text: texts.join("\n"), toolCalls, ...(uuid && { uuid }), ...(timestamp && { timestamp }), message }];
}
