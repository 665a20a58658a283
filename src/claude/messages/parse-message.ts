/**
 * Parses anything that a Claude session emits into a typed message. Unknown messages pass through; a known message with
 * the wrong form is a MessageParseError that names the field. Stateless.
 */
import type { z } from "zod";
import { MessageParseError } from "../errors.ts";
import {
  type ClaudeMessage,
  type KnownMessages,
  type NotifiedStatus,
  otherMessageSchema,
  resultSchema,
  systemSchemas,
} from "./message-schemas.ts";

/** The typed form of a message. Throws MessageParseError. */
export function parseMessage(value: unknown): ClaudeMessage {
  const { type, subtype } = read(otherMessageSchema, value, kindOf(value));
  if (type === "result") return read(resultSchema, value, type);
  if (type === "system" && isSystemSubtype(subtype)) return read(systemSchemas[subtype], value, subtype);
  return value as ClaudeMessage;
}

/** Narrows a result of `parseMessage`: `isMessage(message, "task_notification")`. */
export function isMessage<Kind extends keyof KnownMessages>(
  message: ClaudeMessage,
  kind: Kind,
): message is KnownMessages[Kind] {
  return kind === "result" ? message.type === kind : message.type === "system" && message.subtype === kind;
}

/** True if a task completed; false if it failed, was stopped or was lost. */
export function isSuccess(ended: { status: NotifiedStatus | "lost" }): boolean {
  return ended.status === "completed";
}

function isSystemSubtype(subtype: string | undefined): subtype is keyof typeof systemSchemas {
  return subtype !== undefined && Object.hasOwn(systemSchemas, subtype);
}

function kindOf(value: unknown): string {
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  return typeof type === "string" ? type : "unnamed";
}

function read<Schema extends z.ZodType>(schema: Schema, value: unknown, kind: string): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new MessageParseError(kind, issue?.path.join(".") ?? "", issue?.message ?? "unknown");
}
