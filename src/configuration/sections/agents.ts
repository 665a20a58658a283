/** The agents that speak the Agent Client Protocol (ACP), as the daemon and runners start them. */
import { type AgentSettings, agentsSchema } from "../../hosts/acp/agents/agent-settings.ts";
import { setting } from "../section.ts";
import { type ValueKind, wholeNumber } from "../value-kinds.ts";

const known: ValueKind<Record<string, AgentSettings>> = {
  schema: agentsSchema,
  allowed:
    'agents by name, in small letters, such as { "codex": { "mode": "agent" }, "mine": { "program": "my-agent", "arguments": ["--acp"] } }; docs/acp.md describes them',
  fromText: (text) => text,
};

export const agents = {
  means: "Agents that speak the Agent Client Protocol (ACP), as the daemon and runners start them.",
  settings: {
    known: setting(known, {
      means: "Agents to add to those in the table, and changes to them: program, arguments, variables, mode, model.",
      default: {},
      shown: shownAgents,
    }),
    silentMinutes: setting(wholeNumber({ max: 10_000 }), {
      means: "How long an agent at work may send nothing before it is stopped; waiting for a person does not count.",
      variable: "ASYNCAGENTS_AGENTS_SILENT_MINUTES",
      default: 30,
    }),
  },
};

/** Variables and headers may be secrets: only their names are shown. */
function shownAgents(value: unknown): unknown {
  return hidden(value, false);
}

const SECRET = new Set(["environment", "headers"]);

function hidden(value: unknown, isSecret: boolean): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return isSecret ? "(not shown)" : value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, hidden(each, isSecret || SECRET.has(name))]),
  );
}
