/**
 * Decides whether Anthropic's API would accept a request: roles, empty content, and tool calls with their results.
 * Invariant: no stricter than the API; whatever it rejects would fail there too. Like the API, it joins adjacent
 * messages of one role. Reads nothing for scripts and answers nothing.
 */
import { type AnthropicMessage, blocksOf, type ContentBlock, type MessagesBody } from "./messages-request.ts";

interface Joined {
  role: string;
  blocks: ContentBlock[];
  /** The index of its first message, for the error text. */
  index: number;
}

/** Why the API would respond with 400; undefined if it would accept the request. */
export function messagesRefusal(body: MessagesBody): string | undefined {
  if (typeof body.model !== "string") return "model: Field required";
  if (typeof body.max_tokens !== "number") return "max_tokens: Field required";
  if (!Array.isArray(body.messages)) return "messages: Field required";
  if (body.messages.length === 0) return "messages: at least one message is required";
  return wrongContent(body.messages) ?? wrongCalls(join(body.messages));
}

function wrongContent(messages: AnthropicMessage[]): string | undefined {
  for (const [index, { role, content }] of messages.entries()) {
    const at = `messages.${index}`;
    if (!["user", "assistant", "system"].includes(role)) return `${at}: unexpected role "${role}"`;
    const isLast = index === messages.length - 1;
    if (content.length === 0 && !(isLast && role === "assistant")) return `${at}: content must not be empty`;
    if (blocksOf(content).some((block) => block.type === "text" && block.text?.trim() === "")) {
      return `${at}: text content blocks must contain more than whitespace`;
    }
  }
  if (messages[0]?.role === "assistant") return 'messages: the first message must have the role "user"';
  return undefined;
}

function join(messages: AnthropicMessage[]): Joined[] {
  const joined: Joined[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    if (role === "system") continue;
    const last = joined.at(-1);
    if (last?.role === role) last.blocks.push(...blocksOf(content));
    else joined.push({ role, blocks: [...blocksOf(content)], index });
  }
  return joined;
}

function wrongCalls(messages: Joined[]): string | undefined {
  const seen = new Set<string>();
  let open = new Set<string>();
  for (const { role, blocks, index } of messages) {
    const at = `messages.${index}`;
    const results = blocks.filter((block) => block.type === "tool_result").map((block) => block.tool_use_id ?? "");
    const stray = results.find((id) => role !== "user" || !open.delete(id));
    if (stray !== undefined) return `${at}: tool_result for "${stray}" has no tool_use in the message before it`;
    if (open.size > 0) return unanswered(at, open);
    if (results.length > 0 && blocks[0]?.type !== "tool_result") return `${at}: tool_result blocks must come first`;
    const calls = blocks.filter((block) => block.type === "tool_use").map((block) => block.id ?? "");
    const doubled = calls.find((id, place) => seen.has(id) || calls.indexOf(id) !== place);
    if (doubled !== undefined) return `${at}: tool_use ids must be unique ("${doubled}")`;
    for (const id of calls) seen.add(id);
    open = new Set(calls);
  }
  return open.size > 0 ? unanswered("the end", open) : undefined;
}

function unanswered(at: string, open: Set<string>): string {
  return `${at}: tool_use without tool_result in the message that follows: ${[...open].join(", ")}`;
}
