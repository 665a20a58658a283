/**
 * The agent definitions for sessions of `openClaude`: those of the Claude Agent SDK with closed types. A wrong
 * definition, including a misspelled field, is rejected before a process starts.
 */
import { z } from "zod";
import { AsyncAgentsError } from "../../model/errors.ts";
import { PERMISSION_MODES, TASK_MODELS } from "../messages/tool-schemas.ts";
import type { SdkOptions } from "../sdk.ts";

/** Names that Claude Code resolves itself; each also exists with a window of a million tokens, as in `sonnet[1m]`. */
const MODEL_ALIASES = [...TASK_MODELS, "opusplan", "best", "default"] as const;
const LARGE_WINDOW = "[1m]";

const fullModelName = z.templateLiteral([z.string(), "claude-", z.string()]);

/**
 * A model by its short name, its full name (any name with `claude-` in it), or `inherit` for the session's model. Write
 * any other name, such as one of a gateway, as `{ custom: "name" }`: this way a misspelled name does not compile.
 */
export const agentModelSchema = z.union([
  z.enum([...MODEL_ALIASES, "inherit"]),
  z.templateLiteral([z.enum(MODEL_ALIASES), LARGE_WINDOW]),
  fullModelName,
  z.strictObject({ custom: z.string().min(1) }),
]);

const ofServer = { timeout: z.number().optional(), alwaysLoad: z.boolean().optional() };

const serverSchema = z.union([
  z.strictObject({
    type: z.literal("stdio").optional(),
    command: z.string(),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional(),
    ...ofServer,
  }),
  z.strictObject({
    type: z.enum(["http", "sse"]),
    url: z.string(),
    headers: z.record(z.string(), z.string()).optional(),
    tools: z.array(z.unknown()).optional(),
    ...ofServer,
  }),
]);

/** The name of a server that the session has, or servers of the agent's own. */
export const agentServerSchema = z.union([z.string(), z.record(z.string(), serverSchema)]);

/** One agent. Its name is its key in the option `agents`. */
export const agentDefinitionSchema = z.strictObject({
  /** When to use this agent: Claude chooses by it. */
  description: z.string().min(1),
  /** The agent's system prompt. */
  prompt: z.string(),
  /** The tools it has; defaults to all tools of the session. */
  tools: z.array(z.string()).optional(),
  disallowedTools: z.array(z.string()).optional(),
  model: agentModelSchema.optional(),
  mcpServers: z.array(agentServerSchema).optional(),
  /** Skills to load at its start. */
  skills: z.array(z.string()).optional(),
  /** Ends after this many requests. Claude reports that as completed. */
  maxTurns: z.number().int().positive().optional(),
  criticalSystemReminder_EXPERIMENTAL: z.string().optional(),
  /** Always runs in the background, whatever the call says. */
  background: z.boolean().optional(),
  effort: z.union([z.enum(["low", "medium", "high", "xhigh", "max"]), z.number().int()]).optional(),
  permissionMode: z.enum(PERMISSION_MODES).optional(),
  memory: z.enum(["user", "project", "local"]).optional(),
  initialPrompt: z.string().optional(),
  autoCompactWindow: z.number().int().positive().optional(),
  omitClaudeMd: z.boolean().optional(),
  observer: z.string().optional(),
  observerMessage: z.string().optional(),
});

/** A model by its short or full name, or `inherit`. */
export type AgentModel = z.infer<typeof agentModelSchema>;
/** A server of the Model Context Protocol, by name or in full. */
export type AgentServer = z.infer<typeof agentServerSchema>;
/** One agent. Its name is its key in the option `agents`. */
export type AgentDefinition = z.infer<typeof agentDefinitionSchema>;

/** The definitions in the SDK's form. If one is wrong, throws with the agent and the field. */
export function checkAgents(agents: Record<string, AgentDefinition>): NonNullable<SdkOptions["agents"]> {
  const checked: Record<string, Omit<AgentDefinition, "model"> & { model?: string }> = {};
  for (const [name, definition] of Object.entries(agents)) {
    const issues = agentDefinitionSchema.safeParse(definition).error?.issues ?? [];
    // Report a misspelled field rather than the missing one it causes.
    const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
    if (issue) throw wrongAgent(name, issue, definition);
    const { model, ...rest } = definition;
    checked[name] = { ...rest, ...(model && { model: typeof model === "string" ? model : model.custom }) };
  }
  return checked as NonNullable<SdkOptions["agents"]>;
}

function wrongAgent(agent: string, issue: z.core.$ZodIssue, definition: AgentDefinition): AsyncAgentsError {
  const field = issue.path.join(".") || "definition";
  const message = `The agent ${agent} is wrong: ${problemOf(issue, field, definition)}.`;
  return new AsyncAgentsError("invalid_input", message, { details: { agent, field } });
}

function problemOf(issue: z.core.$ZodIssue, field: string, definition: AgentDefinition): string {
  if (issue.code === "unrecognized_keys")
    return `${field}: there is no field ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}`;
  if (issue.path.length === 1 && !(field in definition)) return `${field} is missing`;
  if (field !== "model") return `${field}: ${issue.message}`;
  return `model: write any other name as { custom: ${JSON.stringify(definition.model)} }, or correct it`;
}
