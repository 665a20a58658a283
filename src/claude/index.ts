/**
 * The Claude task library, `asyncagents/claude`: follow, await, stop and continue the background tasks of Claude sessions.
 * Only `openClaude` needs the Claude Agent SDK, and loads it when it is called.
 */
export { AsyncAgentsError, type ErrorCode } from "../model/errors.ts";
export * from "./agent-definition.ts";
export type { ClaudeSession, CloseOptions, MessagesDropped, SessionMessage } from "./claude-session.ts";
export {
  ClaudeTimeoutError,
  MessageParseError,
  TaskNotFoundError,
  TaskOutputError,
  TaskTimeoutError,
} from "./errors.ts";
export * from "./hook-inputs.ts";
export * from "./message-schemas.ts";
export { type ClaudeOptions, type OwnOptions, openClaude } from "./open-claude.ts";
export { isMessage, isSuccess, parseMessage } from "./parse-message.ts";
export type { DocumentSource, ImageSource, Prompt, PromptBlock } from "./prompt.ts";
export { type SavedTask, savedTaskSchema } from "./saved-task.ts";
export type { SdkMessage, SdkOptions, SdkQuery } from "./sdk.ts";
export { outputFormatOf, structuredOutput } from "./structured-output.ts";
export type { HookAnswer, SubagentHandlers } from "./subagent-hooks.ts";
export type { Task, TaskControl } from "./task.ts";
export type { TaskEvent } from "./task-events.ts";
export type { TaskOutcome, TaskStatus } from "./task-run.ts";
export { TaskManager, type TaskManagerOptions, type TaskNotificationHandler } from "./task-tracker.ts";
export * from "./tool-schemas.ts";
export type { TokenCount, TranscriptMessage } from "./transcript.ts";
export type { WaitOptions } from "./waiting.ts";
