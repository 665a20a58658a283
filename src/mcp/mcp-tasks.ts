/**
 * The extension `io.modelcontextprotocol/tasks`: a launch is answered as a task of the protocol if its request offers
 * that, and the client then asks how it stands. The task's id is our handle, all answers come from the daemon, and
 * nothing is kept here. While the daemon is away, a task is still at work as far as its client is concerned: it asks
 * again. What asking again does not change is an error.
 */
import { ProtocolError, ProtocolErrorCode, type Server, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import { runHandle } from "../model/notifications/follower.ts";
import type { BoardOperationName, CallOperation, OperationOutput } from "../protocol/operations.ts";
import { compactText } from "./compact-text.ts";
import { isRetryable } from "./tool-error.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
/** An end is told this late at most, and each live task costs one small request in this time. */
const POLL_MS = 2_000;
/** What a failed task answers with, as a protocol error that is ours. */
const TASK_FAILED = -32_000;

type McpRequest = ServerContext["mcpReq"];

/** Whether this very request may be answered with a task. Subagents of a client may not offer what the client does. */
export function offersTasks({ envelope }: McpRequest): boolean {
  const { [CAPABILITIES]: capabilities } = (envelope ?? {}) as Record<string, { extensions?: object } | undefined>;
  return Object.hasOwn(capabilities?.extensions ?? {}, TASKS_EXTENSION);
}

/** What a client follows a launch by; null if the tool launches nothing, or not now. */
export function handleOf(name: BoardOperationName, structured: unknown): string | null {
  const answer = structured as Record<string, unknown> | undefined;
  if (name === "follow_up") {
    const { session_id, run } = answer ?? {};
    return typeof session_id === "string" && typeof run === "number" ? runHandle(session_id, run) : null;
  }
  const handle = name === "launch_task" ? answer?.handle : name === "start_task_attempt" ? answer?.attempt_id : null;
  return typeof handle === "string" ? handle : null;
}

/** The answer to a call that launched something. */
export function createdTask(handle: string) {
  return { resultType: "task" as const, content: [], ...workingTask(handle, new Date().toISOString()) };
}

/** `poll` never starts a daemon that a person has stopped: clients ask by themselves, for as long as they live. */
export function serveTasks(server: Server, { call, poll }: { call: CallOperation; poll: CallOperation }): void {
  const params = z.looseObject({ taskId: z.string().max(200) });
  server.setRequestHandler("tasks/get", { params }, async ({ taskId: handle }, { mcpReq }) => {
    try {
      return wireTask(await poll("read_end", { handle }, { signal: mcpReq.signal }));
    } catch (thrown) {
      if (!isRetryable(thrown)) throw protocolError(thrown);
      return workingTask(handle, new Date().toISOString());
    }
  });
  server.setRequestHandler("tasks/cancel", { params }, async ({ taskId: handle }, { mcpReq }) => {
    try {
      await call("stop_launch", { handle }, { signal: mcpReq.signal });
    } catch (thrown) {
      throw protocolError(thrown);
    }
    return {};
  });
}

function workingTask(taskId: string, at: string) {
  const times = { createdAt: at, lastUpdatedAt: at };
  return { taskId, status: "working" as const, ...times, ttlMs: null, pollIntervalMs: POLL_MS };
}

function wireTask(end: OperationOutput<"read_end">) {
  const { handle, status, message, created_at, updated_at, answer, error } = end;
  const times = { createdAt: created_at, lastUpdatedAt: updated_at };
  const task = { ...workingTask(handle, created_at), ...times, statusMessage: message };
  if (status === "failed") {
    return { ...task, status, error: { code: TASK_FAILED, message: error ?? message, data: answer } };
  }
  if (status !== "completed") return { ...task, status };
  const content = [{ type: "text" as const, text: compactText(answer, newMark) }];
  return { ...task, status, result: { resultType: "complete", content, structuredContent: answer } };
}

function newMark(): string {
  return crypto.randomUUID().slice(-12);
}

function protocolError(thrown: unknown): ProtocolError {
  const code = AsyncAgentsError.isInstance(thrown) ? thrown.code : "internal";
  const isUnknown = code === "not_found" || code === "invalid_input";
  const { InvalidParams, InternalError } = ProtocolErrorCode;
  return new ProtocolError(isUnknown ? InvalidParams : InternalError, messageOf(thrown));
}
