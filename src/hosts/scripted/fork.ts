/**
 * Forks a scripted session and condenses the copy; `src/model/condense.ts` plans what to cut. The copy has the history
 * but no parent and no position in a script: its next prompt says what to do next.
 */
import { type CondenseLimits, type CondenseMessage, FORK_PREAMBLE, planCondense } from "../../model/condense.ts";
import type { ForkInput } from "../host.ts";
import type { ScriptedMessage, ScriptedSession, ScriptedSessions } from "./sessions.ts";

/** The copy holds everything before the calling message. */
export function forkScripted(sessions: ScriptedSessions, input: ForkInput): ScriptedSession {
  const { messages } = sessions.get(input.parentSessionId);
  const until = messages.findIndex((message) => message.id === input.untilMessageId);
  const history = structuredClone(until === -1 ? messages : messages.slice(0, until));
  for (const message of history) {
    message.id = sessions.newId("msg");
    if (message.role === "assistant") for (const call of message.calls) call.id = sessions.newId("call");
  }
  const { title, agent, launchId, denyTools } = input;
  return sessions.add({ title, agent, launchId, denyTools, messages: history });
}

/** Condenses the history and adds the preamble; returns the id of the preamble's message. */
export function condenseScripted(
  sessions: ScriptedSessions,
  session: ScriptedSession,
  limits: CondenseLimits,
  at: number,
): string {
  const plan = planCondense(session.messages.map(toPlan), limits);
  session.messages = session.messages.filter((message) => !plan.drop.includes(message.id));
  for (const { messageId, partId, text } of plan.rewrite) {
    const message = session.messages.find((candidate) => candidate.id === messageId);
    if (message) rewrite(message, partId, text);
  }
  const id = sessions.newId("msg");
  sessions.addUserMessage(session, { id, role: "user", at, text: "", hidden: FORK_PREAMBLE });
  return id;
}

function toPlan(message: ScriptedMessage): CondenseMessage {
  const text = { id: message.id, kind: "text", text: message.text } as const;
  const calls = message.role === "assistant" ? message.calls : [];
  const outputs = calls.flatMap(({ id, output }) =>
    output === null ? [] : [{ id, kind: "output" as const, text: output }],
  );
  return { id: message.id, role: message.role, otherChars: 0, parts: [text, ...outputs] };
}

function rewrite(message: ScriptedMessage, partId: string, text: string): void {
  const call = message.role === "assistant" ? message.calls.find((candidate) => candidate.id === partId) : undefined;
  if (call) call.output = text;
  else message.text = text;
}
