/**
 * A scripted session's messages as any door shows them. Reads only.
 */
import type { Message, MessagePart } from "../../model/message.ts";
import type { ScriptedMessage, ScriptedToolCall } from "./sessions.ts";

export function scriptedMessage(message: ScriptedMessage): Message {
  const { id, role, at } = message;
  if (message.role === "user") {
    const hidden: MessagePart[] = message.hidden === null ? [] : [{ type: "text", text: message.hidden, hidden: true }];
    const parts: MessagePart[] = [{ type: "text", text: message.text, hidden: false }, ...hidden];
    return { id, role, at, endedAt: null, agent: null, model: null, error: null, tokens: null, cost: null, parts };
  }
  const { endedAt, error, tokens, cost, text, calls } = message;
  const said: MessagePart[] = text === "" ? [] : [{ type: "text", text, hidden: false }];
  return {
    id,
    role,
    at,
    endedAt,
    agent: null,
    model: null,
    error: error?.message ?? null,
    tokens: { ...tokens },
    cost,
    parts: [...calls.map((call) => toolPart(call, at)), ...said],
  };
}

function toolPart(call: ScriptedToolCall, at: number): MessagePart {
  const { id: callId, name, output, error } = call;
  const state = error !== null ? "error" : output === null ? "running" : "completed";
  return { type: "tool", callId, name, state, title: null, input: null, output, error, startedAt: at, endedAt: null };
}
