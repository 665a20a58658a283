/**
 * Translates OpenCode's events into host events. Ignores events that do not concern tasks, and malformed ones, which
 * therefore cannot break the stream. Stateless. OpenCode publishes an event with a delay and with the message's current
 * content: the first event about an answer may already show it finished.
 */
import type { ReplyWord } from "../../model/answer.ts";
import { questionsText } from "../../model/questions.ts";
import type { AskedTool } from "../../model/request-policy.ts";
import type { HostEvent } from "../host.ts";
import {
  errorText,
  isAbort,
  retryOf,
  type WireError,
  type WireInfo,
  type WirePart,
  type WireSession,
  type WireStatus,
} from "./wire.ts";

type Fields = Record<string, unknown>;
type Reader = (properties: Fields) => HostEvent | HostEvent[] | null;

const DECISIONS: Record<string, ReplyWord> = { once: "allowed once", always: "always allowed", reject: "rejected" };

const READERS: Record<string, Reader> = {
  "session.idle": (p) => ({ type: "session.idle", sessionId: text(p.sessionID) }),
  "session.status": readStatus,
  "session.error": (p) => ({
    type: "session.failed",
    sessionId: text(p.sessionID),
    error: errorText(errorOf(p.error)),
    aborted: isAbort(errorOf(p.error)),
  }),
  "session.created": (p) => {
    const info = fieldsOf(p.info);
    const [sessionId, parentSessionId] = [text(info.id), text(info.parentID)];
    return parentSessionId === "" ? null : { type: "session.opened", sessionId, parentSessionId };
  },
  "session.deleted": (p) => ({
    type: "session.deleted",
    sessionId: text(p.sessionID) || text(fieldsOf(p.info).id),
  }),
  "permission.asked": (p) => ({
    type: "session.asked",
    sessionId: text(p.sessionID),
    requestId: text(p.id),
    asks: "permission",
    text: `${text(p.permission)}: ${list(p.patterns).map(text).join(", ")}`,
    tool: askedTool(text(p.permission), list(p.patterns).map(text)),
  }),
  "question.asked": (p) => ({
    type: "session.asked",
    sessionId: text(p.sessionID),
    requestId: text(p.id),
    asks: "question",
    text: questionsText(list(p.questions).map((question) => text(fieldsOf(question).question))),
  }),
  "permission.replied": (p) => readAnswered(p, DECISIONS[text(p.reply)]),
  "question.replied": (p) => readAnswered(p, "answered"),
  "question.rejected": (p) => readAnswered(p, "turned down"),
  "message.updated": readMessage,
  "message.part.updated": readPart,
  "message.part.delta": (p) => ({ type: "text.written", sessionId: text(p.sessionID) }),
};

/** The host events that one OpenCode event stands for, in order. */
export function readEvents(event: unknown): HostEvent[] {
  const { type, properties } = fieldsOf(event);
  if (typeof type !== "string" || !Object.hasOwn(READERS, type)) return [];
  const read = READERS[type]?.(fieldsOf(properties)) ?? [];
  return [read].flat().filter((each) => "sessionId" in each && each.sessionId !== "");
}

/** A complete OpenCode record contained in an event. */
export type WireRecord =
  | { kind: "session"; session: WireSession }
  | { kind: "deleted"; sessionId: string }
  | { kind: "info"; info: WireInfo }
  | { kind: "part"; sessionId: string; messageId: string; part: WirePart };

export function readRecord(event: unknown): WireRecord | null {
  const { type, properties } = fieldsOf(event);
  const { info, part, sessionID } = fieldsOf(properties);
  const id = text(fieldsOf(info).id);
  if (type === "session.deleted") return { kind: "deleted", sessionId: text(sessionID) || id };
  if (type === "message.part.updated") {
    const { sessionID: sessionId, messageID: messageId, id: partId } = fieldsOf(part);
    if (typeof sessionId !== "string" || typeof messageId !== "string" || typeof partId !== "string") return null;
    return { kind: "part", sessionId, messageId, part: part as WirePart };
  }
  if (id === "") return null;
  if (type === "session.created" || type === "session.updated")
    return { kind: "session", session: info as WireSession };
  const { time, sessionID: owner } = fieldsOf(info);
  if (type !== "message.updated" || typeof owner !== "string" || typeof time !== "object") return null;
  return { kind: "info", info: info as WireInfo };
}

/** Permissions of OpenCode's own tools that are about files and addresses. */
const NO_COMMANDS: ReadonlySet<string> = new Set([
  "read",
  "edit",
  "list",
  "external_directory",
  "webfetch",
  "websearch",
]);

function askedTool(name: string, subjects: string[]): AskedTool {
  return { name, subjects, ...(NO_COMMANDS.has(name) && { isNoCommand: true }) };
}

function readStatus(p: Fields): HostEvent | null {
  const sessionId = text(p.sessionID);
  const { type, attempt, message, next } = fieldsOf(p.status);
  if (type === "busy") return { type: "session.working", sessionId };
  if (type !== "retry") return null;
  const status: WireStatus = {
    ...(typeof attempt === "number" ? { attempt } : {}),
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof next === "number" ? { next } : {}),
  };
  return { type: "session.retrying", sessionId, ...retryOf(status, Date.now()) };
}

function readAnswered(p: Fields, reply: ReplyWord | undefined): HostEvent {
  return {
    type: "session.answered",
    sessionId: text(p.sessionID),
    requestId: text(p.requestID) || text(p.permissionID),
    ...(reply !== undefined && { reply }),
  };
}

function readMessage(p: Fields): HostEvent | HostEvent[] | null {
  const info = fieldsOf(p.info);
  const [sessionId, id, parentId] = [text(info.sessionID), text(info.id), text(info.parentID)];
  if (info.role === "user") return { type: "message.added", sessionId, messageId: id };
  if (info.role !== "assistant") return null;
  const taken: HostEvent = { type: "message.taken", sessionId, messageId: parentId };
  if (fieldsOf(info.time).completed === undefined) return taken;
  const tokens = fieldsOf(info.tokens);
  const cache = fieldsOf(tokens.cache);
  const usage: HostEvent = {
    type: "usage.counted",
    sessionId,
    messageId: id,
    ...(parentId !== "" && { answers: parentId }),
    ...(text(info.modelID) !== "" && { model: `${text(info.providerID)}/${text(info.modelID)}` }),
    cost: number(info.cost),
    tokens: {
      input: number(tokens.input),
      output: number(tokens.output),
      reasoning: number(tokens.reasoning),
      cacheRead: number(cache.read),
      cacheWrite: number(cache.write),
    },
  };
  return [taken, usage];
}

function readPart(p: Fields): HostEvent | HostEvent[] | null {
  const part = fieldsOf(p.part);
  const sessionId = text(part.sessionID);
  if (part.type === "text") return { type: "text.written", sessionId };
  const state = fieldsOf(part.state);
  if (part.type !== "tool" || state.status === "pending") return null;
  const [name, callId] = [text(part.tool) || "tool", text(part.callID)];
  const called: HostEvent = { type: "tool.called", sessionId, callId, name, input: state.input };
  if (state.status !== "completed" && state.status !== "error") return called;
  return [called, { type: "tool.ended", sessionId, callId, isFailed: state.status === "error" }];
}

function errorOf(value: unknown): WireError {
  const { name, message, data } = fieldsOf(value);
  const said = text(fieldsOf(data).message) || text(message);
  return { ...(text(name) ? { name: text(name) } : {}), ...(said ? { message: said } : {}) };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
