/**
 * Condenses the history of a forked OpenCode session to its limits and tells the agent about it. Reads the whole
 * history once, in pages; `src/model/condense.ts` plans what to cut. Does not create the fork.
 */
import {
  type CondenseLimits,
  type CondenseMessage,
  type CondensePart,
  FORK_PREAMBLE,
  planCondense,
} from "../../model/condense.ts";
import { newOpenCodeId } from "./ids.ts";
import { callOpenCode, type OpenCodeSend } from "./transport.ts";
import type { WireMessage, WirePart } from "./wire.ts";

export async function condenseSession(
  send: OpenCodeSend,
  sessionID: string,
  history: readonly WireMessage[],
  limits: CondenseLimits,
): Promise<void> {
  const plan = planCondense(history.map(toPlan), limits);
  const parts = new Map(history.flatMap((message) => message.parts.map((part) => [part.id, part] as const)));
  for (const { messageId, partId, text } of plan.rewrite) {
    const part = parts.get(partId);
    if (!part) continue;
    await callOpenCode(send, {
      method: "PATCH",
      path: "/session/{sessionID}/message/{messageID}/part/{partID}",
      parameters: { sessionID, messageID: messageId, partID: partId },
      body: withText(part, text),
    });
  }
  for (const messageID of plan.drop) {
    await callOpenCode(send, {
      method: "DELETE",
      path: "/session/{sessionID}/message/{messageID}",
      parameters: { sessionID, messageID },
    });
  }
  await callOpenCode(send, {
    method: "POST",
    path: "/session/{sessionID}/message",
    parameters: { sessionID },
    body: {
      messageID: newOpenCodeId("msg"),
      noReply: true,
      parts: [{ id: newOpenCodeId("prt"), type: "text", text: FORK_PREAMBLE, synthetic: true }],
    },
  });
}

function toPlan({ info, parts }: WireMessage): CondenseMessage {
  const planned: CondensePart[] = [];
  let otherChars = 0;
  for (const part of parts) {
    if (part.type === "text" && part.text !== undefined) planned.push({ id: part.id, kind: "text", text: part.text });
    else if (part.type === "tool") {
      otherChars += JSON.stringify(part.state?.input ?? "").length;
      if (part.state?.output !== undefined) planned.push({ id: part.id, kind: "output", text: part.state.output });
    }
  }
  return { id: info.id, role: info.role, otherChars, parts: planned };
}

function withText(part: WirePart, text: string): WirePart {
  return part.type === "tool" ? { ...part, state: { ...part.state, output: text } } : { ...part, text };
}
