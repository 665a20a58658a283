/**
 * The package entry: the engine, its words, and the factories of the seams it needs. The OpenCode plugin has an entry of
 * its own (`asyncagents/server`), and so have the testing aids.
 */
export { DEFAULT_SETTINGS, type EngineContext, type NoticeView, type Settings } from "./engine/context.ts";
export { Engine } from "./engine/engine.ts";
export type { Caller, LaunchRequest } from "./engine/launch.ts";
export { type ClaudeHost, type ClaudeHostOptions, claudeHost } from "./hosts/claude/claude-host.ts";
export type { Host, HostEvent } from "./hosts/host.ts";
export { type OpenCodeHost, openCodeHost } from "./hosts/opencode/opencode-host.ts";
export { httpSend, pluginSend } from "./hosts/opencode/transport.ts";
export { AsyncAgentsError, ERROR_CODES, type ErrorCode } from "./model/errors.ts";
export type { NewTask, TaskEvent } from "./model/events.ts";
export type { Progress, Tokens } from "./model/progress.ts";
export type { Phase, PhaseDetail, Run, Status, Task } from "./model/task.ts";
export { transition } from "./model/transition.ts";
export { isInstanceAlive, ownIdentity } from "./process/liveness.ts";
export type { Log } from "./process/log.ts";
export { postgresStore, sqliteStore } from "./store/open.ts";
export type { Store, TaskPage, TaskQuery } from "./store/store.ts";
