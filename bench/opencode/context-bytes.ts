/**
 * How many bytes a background task adds to its parent's context, measured in the parent's own model requests: as
 * JSON, in UTF-8. Counts what the model receives, not what a person sees.
 */
import type { ChatRequest } from "../../src/testing/models/chat-request.ts";
import type { Contender } from "./contenders.ts";
import type { Trial } from "./trial.ts";

export interface ContextBytes {
  /** The definitions of the side's tools: in every request, whether a task runs or not. */
  definitions: number;
  /** The call that launches, and its result. */
  launch: number;
  /** What is added when the task has ended, including its result. */
  notice: number;
}

export function contextBytes(trial: Trial, contender: Contender): ContextBytes {
  const [before, launched, told] = trial.requests.map((exchange) => exchange.request);
  if (!before || !launched || !told) throw new Error("The trial has too few requests.");
  // The answer that ends the parent's turn comes between the launch and the notice, and is the same on both sides.
  const answer = 1;
  return {
    definitions: definitionBytes(before, contender),
    launch: messageBytes(launched, before.messages.length),
    notice: messageBytes(told, launched.messages.length + answer),
  };
}

export function definitionBytes(request: ChatRequest, { owns }: Contender): number {
  const own = (request.body.tools ?? []).filter((tool) => owns(tool.function.name));
  return own.reduce((sum, tool) => sum + jsonBytes(tool), 0);
}

function messageBytes(request: ChatRequest, from: number): number {
  return request.messages.slice(from).reduce((sum, message) => sum + jsonBytes(message), 0);
}

function jsonBytes(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
