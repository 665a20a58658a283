/**
 * The package entry `asyncagents/client`: the typed client of the status API, its events and its errors, with every
 * type that they use. For Node 20, Bun and browsers; it has no dependency.
 */
export { AsyncAgentsError, ERROR_CODES, type ErrorCode } from "../model/errors.ts";
export type { CallOrigin } from "../protocol/call-origin.ts";
export type { LogMessage, LogPart } from "../protocol/conversations.ts";
export type { TaskSnapshot } from "../protocol/events.ts";
export type {
  BoardOperationName,
  CallOperation,
  OperationInput,
  OperationName,
  OperationOutput,
} from "../protocol/operations.ts";
export type { ServerRunner } from "../protocol/runners.ts";
export type { Health, ServerInstance, ServerTrouble } from "../protocol/server.ts";
export type { AgentStats, Stats, StatsHistory, StatsUsage, TaskGroup } from "../protocol/statistics.ts";
export type { TaskEventName } from "../protocol/task-event-names.ts";
export type {
  AnswerBody,
  BackgroundTask,
  BackgroundTaskRun,
  BackgroundTaskStatus,
  ForkBody,
  LaunchBody,
  TaskList,
} from "../protocol/tasks.ts";
export { type Client, type ClientOptions, createClient, type ListQuery, type LogPage } from "./client.ts";
export type { Fetch, StreamEvent, StreamOptions } from "./event-stream.ts";
