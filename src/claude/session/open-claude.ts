/**
 * Opens a Claude session and follows its background tasks: starts the SDK's query with an input that stays open, a
 * process that we own, and the hooks of the options. `claude-session.ts` has the session itself.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { limitsOf, type WaitOptions, within } from "../../process/deadline.ts";
import { ClaudeTimeoutError } from "../errors.ts";
import { loadSdk, type SdkOptions } from "../sdk.ts";
import { type SubagentHandlers, SubagentHooks } from "../tasks/subagent-hooks.ts";
import { TaskManager, type TaskManagerOptions, type TaskNotificationHandler } from "../tasks/task-manager.ts";
import { type AgentDefinition, checkAgents } from "./agent-definition.ts";
import { ClaudeProcess } from "./claude-process.ts";
import { ClaudeSession } from "./claude-session.ts";
import { checkPrompt, type Prompt } from "./prompt.ts";
import { UserInput } from "./user-input.ts";

const OPEN_MS = 60_000;
const BUFFERED_MESSAGES = 10_000;
const BUFFERED_BYTES = 8 * 1024 * 1024;

/** The options that this library adds to the SDK's. */
export interface OwnOptions extends SubagentHandlers {
  /**
   * The first prompt. With it, the session ends by itself when all is done: the turn, the background tasks, and the
   * turns that they cause. Without it, the session stays open until close().
   */
  prompt?: Prompt;
  /** The agents that Claude can delegate to, by name. */
  agents?: Record<string, AgentDefinition>;
  /** Called once for each background task that has ended. */
  onTaskNotification?: TaskNotificationHandler;
  /** Sets CLAUDE_CODE_ENABLE_TASKS for Claude; defaults to the environment's value. */
  enableTasks?: boolean;
  /** Options for following the tasks. */
  tasks?: Omit<TaskManagerOptions, "control" | "onTaskNotification">;
  /**
   * Maximum number of messages to buffer for a slow reader; beyond it the oldest are dropped and reported. Default
   * 10,000.
   */
  messageBuffer?: number;
  /** Maximum bytes of messages to buffer for a slow reader. Default 8 MiB. */
  messageBytes?: number;
}

/**
 * All options of the Claude Agent SDK (model, cwd, permissionMode, maxBudgetUsd, resume, …) and those of this library.
 */
export type ClaudeOptions = Omit<SdkOptions, keyof OwnOptions | "spawnClaudeCodeProcess"> & OwnOptions;

/**
 * Opens a session. Rejects if the SDK is not installed, an agent definition is wrong, Claude does not start in time
 * (default 60 seconds), or the signal or the option `abortController` aborts before that: then no process is left.
 * Close the session, or let it end by itself if a `prompt` is given; leaving the loop over its messages does not end
 * it.
 */
export async function openClaude(options: ClaudeOptions = {}, limits: WaitOptions = {}): Promise<ClaudeSession> {
  const allowed = limitsOf(limits, OPEN_MS);
  const {
    prompt,
    agents,
    onTaskNotification,
    enableTasks,
    tasks: follow,
    messageBuffer,
    messageBytes,
    ...rest
  } = options;
  const { onSubagentStart, onSubagentStop, ...given } = rest as SubagentHandlers & SdkOptions;
  given.abortController?.signal.throwIfAborted();
  if (prompt !== undefined) checkPrompt(prompt);
  const checkedAgents = agents && checkAgents(agents);
  const sdk = await loadSdk();

  const input = new UserInput();
  const child = new ClaudeProcess(given.stderr);
  const tasks = new TaskManager({
    ...follow,
    ...(onTaskNotification && { onTaskNotification }),
    control: { stopTask: (id) => query.stopTask(id), send: (text) => session.send(text) },
  });
  const handlers = { ...(onSubagentStart && { onSubagentStart }), ...(onSubagentStop && { onSubagentStop }) };
  const hooks = new SubagentHooks(handlers, (handler, error) =>
    tasks.report({ type: "handler.failed", handler, error }),
  );
  tasks.onEnded((_task, outcome) => hooks.ended(outcome));
  const added = hooks.added(given.hooks);
  const query = sdk.query({
    prompt: input.stream,
    options: {
      // An interrupt stops the turn but no tasks: those are stopped one by one.
      perTaskStopAffordance: true,
      ...given,
      ...(checkedAgents && { agents: checkedAgents }),
      ...(added && { hooks: added }),
      env: environment(given.env ?? process.env, enableTasks),
      spawnClaudeCodeProcess: (spawning: Parameters<ClaudeProcess["spawn"]>[0]) => child.spawn(spawning),
    } as SdkOptions,
  });
  const buffer = { messages: messageBuffer ?? BUFFERED_MESSAGES, bytes: messageBytes ?? BUFFERED_BYTES };
  const session = new ClaudeSession({ query, input, child, tasks, hooks, buffer });
  const givenUp = given.abortController?.signal;
  try {
    const started = within(query.initializationResult(), givenUp ? { signal: givenUp } : {}, notStarted);
    await within(started, allowed, notStarted);
  } catch (cause) {
    // Nothing has started that would need time to end.
    child.signal("SIGKILL");
    await session.close();
    givenUp?.throwIfAborted();
    allowed.signal?.throwIfAborted();
    if (cause instanceof ClaudeTimeoutError) throw cause;
    const { complaint } = child.pid === undefined ? { complaint: "" } : await child.exited;
    const why = [messageOf(cause), complaint].filter((words) => words !== "").join(": ");
    throw new AsyncAgentsError("host_unavailable", `Claude did not start: ${why}`, { cause });
  }
  if (prompt !== undefined) session.sendOnly(prompt);
  return session;
}

function notStarted(timeout: number): ClaudeTimeoutError {
  return new ClaudeTimeoutError("Claude did not start", timeout, "Its process was ended: open another session.");
}

function environment(given: Record<string, string | undefined>, enableTasks: boolean | undefined) {
  return {
    // Reports the end of a turn, which no other message does reliably.
    CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1",
    ...given,
    ...(enableTasks !== undefined && { CLAUDE_CODE_ENABLE_TASKS: enableTasks ? "1" : "0" }),
  };
}
