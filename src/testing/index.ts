/**
 * The package entry `asyncagents/testing`: scripted models, a real OpenCode and a home for Claude's CLI under test, the scripted host,
 * and the suites that every store and every host must pass. For Bun's test runner. Everything else in this folder is private to it.
 */
export { type ScriptedHost, type ScriptedHostOptions, scriptedHost } from "../hosts/scripted.ts";
/** What agents of the scripted host do. */
export * as agentScript from "../hosts/scripted-script.ts";
export { ScriptedSessions } from "../hosts/scripted-sessions.ts";
export { type AnthropicModel, type AnthropicModelOptions, startAnthropicModel } from "./anthropic-model.ts";
export { type ClaudeHome, type ClaudeHomeOptions, claudeEnvironment } from "./claude-home.ts";
export type { Gate } from "./gates.ts";
export { type Absent, hostConformance } from "./host-conformance.ts";
export type { HostBed } from "./host-conformance-stage.ts";
export type { RecordedRequest } from "./model-endpoint.ts";
export type { ModelRequest } from "./model-request.ts";
export { type OpenAiModel, type OpenAiModelOptions, startOpenAiModel } from "./openai-model.ts";
export { type MessageWithParts, messageText, OpenCodeClient, OpenCodeHttpError } from "./opencode-client.ts";
export type { RecordedEvent } from "./opencode-events.ts";
export { type OpenCode, type OpenCodeOptions, startOpenCode } from "./opencode-harness.ts";
/** What the scripted model answers. */
export * as modelScript from "./script.ts";
export { type OpenStore, storeConformance } from "./store-conformance.ts";
