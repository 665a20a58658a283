/**
 * The package entry `asyncagents/testing`: scripted models, a real OpenCode and a home for a Claude CLI under test, the
 * scripted host, and the suites that every store and every host must pass. For Bun's test runner. Everything else in
 * this folder is private.
 */

export type { ScriptedGate } from "../hosts/scripted/gates.ts";
/** What agents of the scripted host do. */
export * as agentScript from "../hosts/scripted/script.ts";
export { type ScriptedHost, type ScriptedHostOptions, scriptedHost } from "../hosts/scripted/scripted-host.ts";
export {
  type AgentMessage,
  type ScriptedMessage,
  type ScriptedSession,
  ScriptedSessions,
  type ScriptedToolCall,
  type UserMessage,
} from "../hosts/scripted/sessions.ts";
export type { Clock } from "../process/clock.ts";
export type * from "../seam-types.ts";
export { type ClaudeHome, type ClaudeHomeOptions, claudeEnvironment } from "./claude-home.ts";
export { type Absent, hostConformance, type OptionalHostMember } from "./conformance/host/host-conformance.ts";
export type { HostAbility, HostBed, Lacks } from "./conformance/host/stage.ts";
export { type OpenStore, storeConformance } from "./conformance/store/store-conformance.ts";
export { type AnthropicModel, type AnthropicModelOptions, startAnthropicModel } from "./models/anthropic-model.ts";
export type { ChatBody, ChatContent, ChatMessage, ChatRequest, ChatToolCall } from "./models/chat-request.ts";
export type { ChatUsage } from "./models/chat-response.ts";
export type { Gate } from "./models/gates.ts";
export type { AnthropicMessage, ContentBlock, MessagesBody, MessagesRequest } from "./models/messages-request.ts";
export type { AnthropicUsage } from "./models/messages-response.ts";
export type { ModelDefaults, RecordedRequest, WireRequest } from "./models/model-endpoint.ts";
export type { ModelRequest, ModelToolCall, ModelTurn, RequestKind, ToolResult } from "./models/model-request.ts";
export { type OpenAiModel, type OpenAiModelOptions, startOpenAiModel } from "./models/openai-model.ts";
/** What the scripted model answers. */
export * as modelScript from "./models/script.ts";
export type { ScriptedModel } from "./models/scripted-model.ts";
export {
  type CreateSession,
  type MessageWithParts,
  messageText,
  OpenCodeClient,
  OpenCodeHttpError,
  type PromptOptions,
  type RequestOptions,
} from "./opencode/client.ts";
export type { RecordedEvent } from "./opencode/events.ts";
export {
  type OpenCode,
  type OpenCodeOptions,
  type RecordedEventOf,
  type RecordedEventType,
  startOpenCode,
} from "./opencode/harness.ts";
export type { OpenCodeSettings, PermissionSetting, PluginEntry } from "./opencode/home.ts";
export type { ProcessExit, ProcessOutput } from "./opencode/process.ts";
