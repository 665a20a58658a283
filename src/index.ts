/**
 * The package entry `asyncagents`: the engine, the factories of the stores and hosts that it needs, and every type that
 * they take or return. Runs on Bun and Node; only `sqliteStore` needs Bun. The OpenCode plugin has an entry of its own
 * (`asyncagents/server`), and so have the client, the Claude library and the testing kit.
 */

export type { SdkOptions } from "./claude/sdk.ts";
export type { CancelResult } from "./engine/cancel.ts";
export {
  type CrashPoint,
  DEFAULT_SETTINGS,
  type EngineContext,
  type NoticeText,
  type NoticeView,
  type Settings,
} from "./engine/context.ts";
export { createEngine, type EngineOptions } from "./engine/create-engine.ts";
export { Engine } from "./engine/engine.ts";
export { type Caller, type LaunchRequest, PERSON, type ResumeRequest } from "./engine/launch.ts";
export type { Member } from "./engine/member.ts";
export type { Lease } from "./engine/recovery/lease.ts";
export type { HostOpener } from "./engine/recovery/orphan-sweep.ts";
export { type Place, Slots } from "./engine/runs/slots.ts";
export { Supervisor, type SupervisorContext } from "./engine/supervisor.ts";
export type { Changes, EntriesListener, ReadingPace, WatchContext } from "./engine/watching/changes.ts";
export {
  type ClaudeHost,
  type ClaudeHostOptions,
  claudeHost,
  type HostOwnedOption,
} from "./hosts/claude/claude-host.ts";
export { type OpenCodeHost, openCodeHost } from "./hosts/opencode/opencode-host.ts";
export {
  type HttpTarget,
  httpSend,
  type OpenCodeAnswer,
  type OpenCodeRequest,
  type OpenCodeSend,
  pluginSend,
} from "./hosts/opencode/transport.ts";
export type { ModelPrice, Prices } from "./model/budgets/prices.ts";
export { AsyncAgentsError, ERROR_CODES, type ErrorCode } from "./model/errors.ts";
export { noEvidence } from "./model/evidence.ts";
export type { RequestRule } from "./model/request-policy.ts";
export { transition } from "./model/transition.ts";
export { type Clock, systemClock } from "./process/clock.ts";
export type { WaitOptions } from "./process/deadline.ts";
export { isInstanceAlive, ownIdentity } from "./process/liveness.ts";
export type { LineLog, Log } from "./process/log.ts";
export type * from "./seam-types.ts";
export { type PostgresOptions, postgresStore, type SqliteOptions, sqliteStore } from "./store/open.ts";
