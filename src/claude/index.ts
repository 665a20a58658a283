/**
 * The Claude task library, `asyncagents/claude`: follow, await, stop and continue the background tasks of Claude
 * sessions. Only `openClaude` needs the Claude Agent SDK, which it loads when it is called.
 */
export { AsyncAgentsError, ERROR_CODES, type ErrorCode } from "../model/errors.ts";
export type { WaitOptions } from "../process/deadline.ts";
export {
  ClaudeTimeoutError,
  MessageParseError,
  TaskNotFoundError,
  TaskOutputError,
  TaskTimeoutError,
} from "./errors.ts";
export type { Closed } from "./messages/closed.ts";
export * from "./messages/message-schemas.ts";
export { isMessage, isSuccess, parseMessage } from "./messages/parse-message.ts";
export * from "./messages/tool-schemas.ts";
export type { SdkMessage, SdkOptions, SdkQuery } from "./sdk.ts";
export * from "./session/agent-definition.ts";
export type { ClaudeSession, CloseOptions, MessagesDropped, SessionMessage } from "./session/claude-session.ts";
export { type ClaudeOptions, type OwnOptions, openClaude } from "./session/open-claude.ts";
export type { DocumentSource, ImageSource, Prompt, PromptBlock } from "./session/prompt.ts";
export { outputFormatOf, structuredOutput } from "./session/structured-output.ts";
export * from "./tasks/hook-inputs.ts";
export { type SavedTask, savedTaskSchema } from "./tasks/saved-task.ts";
export type { HookAnswer, SubagentHandlers } from "./tasks/subagent-hooks.ts";
export type { Task, TaskControl } from "./tasks/task.ts";
export type { TaskEvent } from "./tasks/task-events.ts";
export { TaskManager, type TaskManagerOptions, type TaskNotificationHandler } from "./tasks/task-manager.ts";
export type { TaskOutcome, TaskStatus } from "./tasks/task-run.ts";
export type { TokenCount, TranscriptMessage } from "./tasks/transcript.ts";
