/**
 * What follows from a call that launched something, or read how it ended: the daemon notes who is told about the end,
 * and how. The launch has happened, so nothing that fails here makes its call fail.
 */
import type { CallToolResult, ServerContext } from "@modelcontextprotocol/server";
import { unknownClient } from "../model/notifications/follower.ts";
import type { BoardOperationName } from "../protocol/operations.ts";
import { createdTask, handleOf, offersTasks } from "./mcp-tasks.ts";
import type { McpOptions } from "./server.ts";

/** Claude Code's name for a call, which its hooks know too. */
const CALL_ID = "claudecode/toolUseId";

const NOT_NOTED =
  "It was launched, but the daemon did not answer when it was asked to tell you about the end. If you are not told, look with wait_tasks or get_attempt.";

interface MadeCall {
  name: BoardOperationName;
  result: CallToolResult;
}

/** The result, or a task of the protocol in its place, if this request offers to follow one. */
export async function followed(
  { call, client }: Pick<McpOptions, "call" | "client">,
  mcpReq: ServerContext["mcpReq"],
  { name, result }: MadeCall,
): Promise<CallToolResult> {
  const handle = handleOf(name, result.structuredContent);
  if (handle === null) {
    if (name === "wait_tasks" && client !== null) await noteRead({ call, client }, result.structuredContent);
    return result;
  }
  const isTask = offersTasks(mcpReq);
  const callId = mcpReq._meta?.[CALL_ID];
  if (isTask || typeof callId === "string") {
    const follower = { handle, client: client ?? unknownClient(handle), way: isTask ? "task" : "hook" } as const;
    const named = typeof callId === "string" ? { call: callId.slice(0, 200) } : {};
    const noted = await call("follow_launch", { ...follower, ...named }).catch(() => null);
    if (noted === null && (!isTask || name === "follow_up")) {
      return { ...result, content: [...result.content, { type: "text", text: NOT_NOTED }] };
    }
    // A client that follows a launch as a task is noted when it asks for it first.
    if (isTask) return createdTask(noted?.handle ?? handle);
  }
  return result;
}

/** A model that looked for itself need not be told again. */
async function noteRead(
  { call, client }: { call: McpOptions["call"]; client: string },
  structured: unknown,
): Promise<void> {
  const { tasks = [] } = structured as { tasks?: { handle: string; status: string }[] };
  const ended = tasks.filter(({ status }) => status !== "running" && status !== "resumed");
  if (ended.length === 0) return;
  const handles = ended.map(({ handle }) => handle);
  await call("hear_ends", { client, handles }).catch(() => {});
}
