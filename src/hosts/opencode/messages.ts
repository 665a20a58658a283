/**
 * Converts OpenCode's records to messages that any door can show. Nothing is left out: a part without an equivalent
 * keeps its record. Read-only; does not decide whether a run has ended (`evidence.ts` does).
 */
import { type Message, type MessagePart, TOOL_STATES, type ToolPart } from "../../model/message.ts";
import { errorText, type WireInfo, type WireMessage, type WirePart, type WireTokens } from "./wire.ts";

export function toMessage({ info, parts }: WireMessage): Message {
  return {
    id: info.id,
    role: info.role,
    at: info.time.created,
    endedAt: info.time.completed ?? null,
    agent: info.agent ?? null,
    model: modelOf(info),
    error: info.error ? errorText(info.error) : null,
    tokens: info.tokens ? tokensOf(info.tokens) : null,
    cost: info.cost ?? null,
    // Files that a tool returned to the model, such as an image it read, follow its call.
    parts: parts.flatMap((part) => [partOf(part), ...(part.state?.attachments ?? []).map(partOf)]),
  };
}

function partOf(part: WirePart): MessagePart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text ?? "", hidden: part.synthetic === true };
    case "reasoning":
      return { type: "reasoning", text: part.text ?? "" };
    case "tool":
      return toolOf(part);
    case "file":
      return { type: "file", name: part.filename ?? null, mime: part.mime ?? "", url: part.url ?? "" };
    default:
      return { type: "other", raw: part };
  }
}

function toolOf(part: WirePart): ToolPart {
  const { status, input, output, error, title, time } = part.state ?? {};
  return {
    type: "tool",
    callId: part.callID ?? part.id,
    name: part.tool ?? "",
    state: TOOL_STATES.find((state) => state === status) ?? "pending",
    title: title || null,
    input: input ?? null,
    output: output ?? null,
    error: error ?? null,
    startedAt: time?.start ?? null,
    endedAt: time?.end ?? null,
  };
}

function modelOf(info: WireInfo): string | null {
  const { providerID, modelID } = info.model ?? info;
  return providerID && modelID ? `${providerID}/${modelID}` : null;
}

function tokensOf(tokens: WireTokens): Message["tokens"] {
  return {
    input: tokens.input ?? 0,
    output: tokens.output ?? 0,
    reasoning: tokens.reasoning ?? 0,
    cacheRead: tokens.cache?.read ?? 0,
    cacheWrite: tokens.cache?.write ?? 0,
  };
}
