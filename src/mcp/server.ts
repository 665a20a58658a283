/**
 * The MCP server on top of anything that performs the operations: lists the tools and calls them, for old and new
 * protocol versions. Keeps nothing between two calls, so that a new context or a restarted daemon is noticed at once.
 * Has no transport of its own.
 */
import {
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { settlesWithin } from "../process/deadline.ts";
import type { Toolset } from "../protocol/operation.ts";
import type { CallOperation } from "../protocol/operations.ts";
import { followed } from "./followed-call.ts";
import { serveTasks, TASKS_EXTENSION } from "./mcp-tasks.ts";
import { callTool, type WaitProgress } from "./tool-call.ts";
import { errorResult } from "./tool-error.ts";
import { toolNamed, toolsOf } from "./tools.ts";

export interface McpOptions {
  /** Performs the operations, here or in the daemon. */
  call: CallOperation;
  /** The same for what clients ask again and again by themselves: starts no daemon that was stopped. */
  poll: CallOperation;
  /** Who the client is, if it is known: then it is told by this name. Null if not. */
  client: string | null;
  /** The client's directory, an absolute path; null if it is not known. */
  directory: string | null;
  /** `extended` includes the core toolset. */
  toolset: Toolset;
  /** Whether the scripted agent is offered. */
  scripted: boolean;
  version: string;
}

/** A list must not wait for a slow daemon: some clients give up after five seconds. */
const CONTEXT_LIMIT_MS = 3_000;

const INSTRUCTIONS = {
  core: "Tasks belong to projects. start_task_attempt sets an agent to work on a task in a git worktree of its own and returns at once; follow_up continues it. list_tasks tells how the tasks stand.",
  extended:
    "For work with a project: create_task, start_task_attempt, then get_attempt with wait_ms, get_attempt_diff and merge_attempt. For a quick job without one: launch_task, then wait_tasks. Agents work in the background: go on with other things, and look later. Where the answer is that a server-side task was started, you are told when it ends: do not wait for it. Its id is the handle, or the attempt_id.",
};

export function createServer(options: McpOptions): Server {
  const { call, poll, directory, toolset, scripted, version } = options;
  const server = new Server(
    { name: "asyncagents", title: "asyncagents", version },
    { capabilities: { tools: {}, extensions: { [TASKS_EXTENSION]: {} } }, instructions: INSTRUCTIONS[toolset] },
  );
  server.setRequestHandler("tools/list", async (_request, { mcpReq }): Promise<ListToolsResult> => {
    const context = directory !== null && (await hasContext(call, directory, mcpReq.signal));
    return { tools: toolsOf(toolset, { context, scripted }) };
  });
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const name = toolNamed(params.name, toolset);
    if (name === null) {
      const remedy = "tools/list gives the names of all tools.";
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name.slice(0, 100)}. ${remedy}`);
    }
    const input = params.arguments ?? {};
    try {
      const progress = progressOf(mcpReq);
      const result = await callTool({ call, name, input, directory, signal: mcpReq.signal, progress });
      return await followed(options, mcpReq, { name, result });
    } catch (thrown) {
      return errorResult(thrown, toolset);
    }
  });
  serveTasks(server, { call, poll });
  return server;
}

/** True if the directory belongs to an attempt; false if nobody answers in time. */
async function hasContext(call: CallOperation, directory: string, signal: AbortSignal): Promise<boolean> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(CONTEXT_LIMIT_MS)]);
  const asked = call("get_context", { directory }, { signal: limited }).then(
    () => true,
    () => false,
  );
  return (await settlesWithin(asked, { signal: limited })) && asked;
}

function progressOf({ _meta, notify }: ServerContext["mcpReq"]): ((progress: WaitProgress) => Promise<void>) | null {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return null;
  return (progress) => notify({ method: "notifications/progress", params: { progressToken, ...progress } });
}
