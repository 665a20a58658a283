/**
 * The package entry `asyncagents/testing`: scripted models, a real OpenCode and a home for a Claude CLI under test, the
 * scripted host, and the suites that every store and every host must pass. For Bun's test runner. Everything else in
 * this folder is private.
 */

/** What agents of the scripted host do. */
export * as agentScript from "../hosts/scripted/script.ts";
export { type ScriptedHost, type ScriptedHostOptions, scriptedHost } from "../hosts/scripted/scripted-host.ts";
export { ScriptedSessions } from "../hosts/scripted/sessions.ts";
export { type ClaudeHome, type ClaudeHomeOptions, claudeEnvironment } from "./claude-home.ts";
export { type Absent, hostConformance } from "./conformance/host/host-conformance.ts";
export type { HostBed } from "./conformance/host/stage.ts";
export { type OpenStore, storeConformance } from "./conformance/store/store-conformance.ts";
export { type AnthropicModel, type AnthropicModelOptions, startAnthropicModel } from "./models/anthropic-model.ts";
export type { Gate } from "./models/gates.ts";
export type { RecordedRequest } from "./models/model-endpoint.ts";
export type { ModelRequest } from "./models/model-request.ts";
export { type OpenAiModel, type OpenAiModelOptions, startOpenAiModel } from "./models/openai-model.ts";
/** What the scripted model answers. */
export * as modelScript from "./models/script.ts";
export { type MessageWithParts, messageText, OpenCodeClient, OpenCodeHttpError } from "./opencode/client.ts";
export type { RecordedEvent } from "./opencode/events.ts";
export { type OpenCode, type OpenCodeOptions, startOpenCode } from "./opencode/harness.ts";
