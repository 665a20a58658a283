/**
 * What spans and measurements say about a run, in the words of OpenTelemetry's conventions for generative AI (1.41),
 * and in our own where they have none. Never a prompt, a result, an error text, a description, a path or what tools
 * got and gave. Pure.
 */
import type { Attributes } from "@opentelemetry/api";
import { isBudgetStop } from "../../model/budgets/budget-text.ts";
import { isInterruption, NO_OUTPUT, SESSION_DELETED } from "../../model/evidence.ts";
import { isBreach } from "../../model/limits.ts";
import { lessProgress } from "../../model/progress.ts";
import type { Task } from "../../model/task.ts";
import type { ToolCall } from "./tool-calls.ts";

/** The conventions' names for providers that others call differently; the rest have one name. */
const PROVIDERS: Readonly<Record<string, string>> = {
  "amazon-bedrock": "aws.bedrock",
  azure: "azure.ai.openai",
  google: "gcp.gemini",
  "google-vertex": "gcp.vertex_ai",
  mistral: "mistral_ai",
  xai: "x_ai",
};

/** With few different values, so that measurements can be grouped by them. */
export function runGroup(task: Task, model: string | null): Attributes {
  const { provider, name } = modelParts(task.model ?? model);
  return {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": provider === null ? task.host : (PROVIDERS[provider] ?? provider),
    "gen_ai.agent.name": task.agent,
    ...(name !== null && { "gen_ai.request.model": name }),
    "asyncagents.host": task.host,
  };
}

export function runAttributes(task: Task, model: string | null): Attributes {
  const { run, progress } = task;
  const { tokens, cost, toolCalls } = lessProgress(progress, run.before);
  const answered = modelParts(model).name;
  return {
    ...runGroup(task, model),
    ...endAttributes(task),
    "gen_ai.conversation.id": task.sessionId,
    ...(answered !== null && { "gen_ai.response.model": answered }),
    "gen_ai.usage.input_tokens": inputTokens(task),
    "gen_ai.usage.output_tokens": outputTokens(task),
    "gen_ai.usage.cache_read.input_tokens": tokens.cacheRead,
    "gen_ai.usage.cache_creation.input_tokens": tokens.cacheWrite,
    "asyncagents.task.id": task.id,
    "asyncagents.run.number": run.number,
    "asyncagents.run.tool_calls": toolCalls,
    "asyncagents.run.cost": cost,
    ...(task.parentSessionId !== "" && { "asyncagents.parent.conversation.id": task.parentSessionId }),
  };
}

/** How it ended. A cancelled run is no error: somebody wanted that. */
export function endAttributes({ run }: Task): Attributes {
  const type = errorTypeOf(run.outcome === "error" ? (run.error ?? "") : null);
  return { "asyncagents.run.outcome": run.outcome ?? "error", ...(type !== null && { "error.type": type }) };
}

/** Of the cached ones too, as the conventions say. */
export function inputTokens({ progress, run }: Task): number {
  const { input, cacheRead, cacheWrite } = lessProgress(progress, run.before).tokens;
  return input + cacheRead + cacheWrite;
}

export function outputTokens({ progress, run }: Task): number {
  const { output, reasoning } = lessProgress(progress, run.before).tokens;
  return output + reasoning;
}

export function toolAttributes({ callId, name, state }: ToolCall): Attributes {
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "gen_ai.tool.call.id": callId,
    ...(state !== "completed" && { "error.type": state === "error" ? "tool_error" : "unfinished" }),
  };
}

/** A few classes; the text itself may hold anything. */
function errorTypeOf(error: string | null): string | null {
  if (error === null) return null;
  if (isInterruption(error)) return "interrupted";
  if (isBudgetStop(error)) return "budget";
  if (isBreach(error)) return "limit";
  if (error === SESSION_DELETED) return "session_deleted";
  return error === NO_OUTPUT ? "no_output" : "_OTHER";
}

/** Some hosts name models without their provider. */
function modelParts(model: string | null): { provider: string | null; name: string | null } {
  const slash = model?.indexOf("/") ?? -1;
  if (!model || slash <= 0) return { provider: null, name: model };
  return { provider: model.slice(0, slash), name: model.slice(slash + 1) };
}
