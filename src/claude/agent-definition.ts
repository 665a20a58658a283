/**
 * What an agent is, for the sessions that `openClaude` opens: the words of the Claude Agent SDK with a closed type for the
 * model. A wrong definition is refused before a process is started.
 */
import { z } from "zod";
import { AsyncAgentsError } from "../model/errors.ts";
import { PERMISSION_MODES, TASK_MODELS } from "./tool-schemas.ts";

const fullModelName = z.templateLiteral([z.string(), "claude-", z.string()]);

/** A model by its short name, in full (any name with `claude-` in it), or `inherit` for the model of the session. */
export const agentModelSchema = z.union([z.enum([...TASK_MODELS, "inherit"]), fullModelName]);

const serverSchema = z.union([
  z.looseObject({
    type: z.literal("stdio").optional(),
    command: z.string(),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional(),
  }),
  z.looseObject({
    type: z.enum(["http", "sse"]),
    url: z.string(),
    headers: z.record(z.string(), z.string()).optional(),
  }),
]);

/** The name of a server that the session has, or servers of the agent's own. */
export const agentServerSchema = z.union([z.string(), z.record(z.string(), serverSchema)]);

/** One agent. Its name is its key in the option `agents`. */
export const agentDefinitionSchema = z.object({
  /** When to use this agent: Claude chooses by it. */
  description: z.string().min(1),
  /** The agent's system prompt. */
  prompt: z.string(),
  /** The tools it has; all of the session's where it is left out. */
  tools: z.array(z.string()).optional(),
  disallowedTools: z.array(z.string()).optional(),
  model: agentModelSchema.optional(),
  mcpServers: z.array(agentServerSchema).optional(),
  /** Skills that are loaded at its start. */
  skills: z.array(z.string()).optional(),
  /** After so many requests it ends. Claude reports that end as completed. */
  maxTurns: z.number().int().positive().optional(),
  criticalSystemReminder_EXPERIMENTAL: z.string().optional(),
  /** Always in the background, whatever the call says. */
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

/** Throws where a definition is wrong, with the agent and the field. */
export function checkAgents(agents: Record<string, AgentDefinition>): void {
  for (const [name, definition] of Object.entries(agents)) {
    const [issue] = agentDefinitionSchema.safeParse(definition).error?.issues ?? [];
    if (!issue) continue;
    const field = issue.path.join(".") || "definition";
    throw new AsyncAgentsError("invalid_input", `The agent ${name} is wrong: ${field}: ${issue.message}.`, {
      details: { agent: name, field },
    });
  }
}
