/**
 * Translates OpenCode's events into the host's own. Events that say nothing about tasks give null; a malformed event
 * gives null too: it can never break the stream. Keeps no state.
 */
import type { HostEvent } from "./host.ts";
import {
  errorText,
  retryOf,
  type WireError,
  type WireInfo,
  type WirePart,
  type WireSession,
  type WireStatus,
} from "./opencode-wire.ts";

type Reader = (properties: Record<string, unknown>) => HostEvent | null;

const READERS: Record<string, Reader> = {
  "session.idle": (p) => ({ type: "session.idle", sessionId: text(p.sessionID) }),
  "session.status": readStatus,
  "session.error": (p) =>
    p.sessionID
      ? { type: "session.failed", sessionId: text(p.sessionID), error: errorText((p.error ?? {}) as WireError) }
      : null,
  "session.created": (p) => {
    const info = p.info as WireSession | undefined;
    if (!info?.parentID) return null;
    return { type: "session.opened", sessionId: info.id, parentSessionId: info.parentID };
  },
  "session.deleted": (p) => {
    const info = p.info as { id?: string } | undefined;
    return { type: "session.deleted", sessionId: text(p.sessionID ?? info?.id) };
  },
  "permission.asked": (p) => ({
    type: "session.asked",
    sessionId: text(p.sessionID),
    requestId: text(p.id),
    asks: "permission",
    text: `${text(p.permission)}: ${list(p.patterns).join(", ")}`,
  }),
  "question.asked": (p) => ({
    type: "session.asked",
    sessionId: text(p.sessionID),
    requestId: text(p.id),
    asks: "question",
    text: list(p.questions)
      .map((question) => text((question as { question?: unknown }).question))
      .join(" / "),
  }),
  "permission.replied": readAnswered,
  "question.replied": readAnswered,
  "question.rejected": readAnswered,
  "message.updated": readMessage,
  "message.part.updated": readPart,
  "message.part.delta": (p) => ({ type: "text.written", sessionId: text(p.sessionID) }),
};

export function readEvent(event: unknown): HostEvent | null {
  const { type, properties } = (event ?? {}) as { type?: string; properties?: Record<string, unknown> };
  if (type === undefined || !Object.hasOwn(READERS, type)) return null;
  const read = READERS[type]?.(properties ?? {}) ?? null;
  return read && read.sessionId !== "" ? read : null;
}

function readStatus(p: Record<string, unknown>): HostEvent | null {
  const status = p.status as WireStatus | undefined;
  const sessionId = text(p.sessionID);
  if (status?.type === "busy") return { type: "session.working", sessionId };
  if (status?.type !== "retry") return null;
  return { type: "session.retrying", sessionId, ...retryOf(status) };
}

function readAnswered(p: Record<string, unknown>): HostEvent {
  return { type: "session.answered", sessionId: text(p.sessionID), requestId: text(p.requestID ?? p.permissionID) };
}

function readMessage(p: Record<string, unknown>): HostEvent | null {
  const info = p.info as WireInfo | undefined;
  if (!info) return null;
  const sessionId = text(info.sessionID);
  if (info.role === "user") return { type: "message.added", sessionId, messageId: info.id };
  if (info.time?.completed === undefined) return { type: "message.taken", sessionId, messageId: text(info.parentID) };
  const { tokens } = info;
  return {
    type: "usage.counted",
    sessionId,
    messageId: info.id,
    cost: info.cost ?? 0,
    tokens: {
      input: tokens?.input ?? 0,
      output: tokens?.output ?? 0,
      reasoning: tokens?.reasoning ?? 0,
      cacheRead: tokens?.cache?.read ?? 0,
      cacheWrite: tokens?.cache?.write ?? 0,
    },
  };
}

function readPart(p: Record<string, unknown>): HostEvent | null {
  const part = p.part as (WirePart & { sessionID?: string }) | undefined;
  if (!part) return null;
  const sessionId = text(part.sessionID);
  if (part.type === "text") return { type: "text.written", sessionId };
  if (part.type !== "tool" || part.state?.status === "pending") return null;
  return { type: "tool.called", sessionId, callId: text(part.callID), name: part.tool ?? "tool" };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
