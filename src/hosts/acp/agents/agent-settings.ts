/**
 * What a person can set for an ACP agent, in `agents.known` of the configuration: another program, arguments,
 * variables, mode, model, MCP servers; or a whole agent that is not in the table. The schema judges; nothing is
 * started.
 */
import { z } from "zod";
import { PROFILES, type ProfileName } from "../profiles/profiles.ts";

const short = z.string().min(1).max(500);
const pairs = z
  .record(z.string().min(1).max(200), z.string().max(8_000))
  .refine((given) => Object.keys(given).length <= 100);

const serverSchema = z.union([
  z.strictObject({ url: z.url().max(2_000), headers: pairs.optional() }),
  z.strictObject({
    command: short,
    arguments: z.array(z.string().max(4_000)).max(100).optional(),
    environment: pairs.optional(),
  }),
]);

/** An MCP server that the agent's sessions get: over HTTP, or a program. */
export type McpServerSettings = z.infer<typeof serverSchema>;

const profileNames = Object.keys(PROFILES) as ProfileName[];

const agentSchema = z.strictObject({
  description: z.string().max(500).optional(),
  program: short.optional(),
  arguments: z.array(z.string().max(4_000)).max(100).optional(),
  environment: pairs.optional(),
  like: z.enum(profileNames as [ProfileName, ...ProfileName[]]).optional(),
  mode: short.optional(),
  model: short.optional(),
  mcpServers: z.record(z.string().min(1).max(100), serverSchema).optional(),
});

export type AgentSettings = z.infer<typeof agentSchema>;

/** Names that can be typed, and be part of an executor's name. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,29}$/;

export const agentsSchema = z
  .record(z.string().regex(NAME), agentSchema)
  .refine((given) => Object.keys(given).length <= 100);
