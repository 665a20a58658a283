/**
 * Starts an agent once, to see whether it works here: what it calls itself, what it announces, and whether it opens a
 * session. It gets no prompt, so no model is asked. Nothing of it is left afterwards.
 */
import { messageOf } from "../../../model/errors.ts";
import { AgentConnection } from "../connection.ts";
import { AgentGone, AgentRefusal } from "../connection-errors.ts";
import { AgentProcess } from "../process.ts";
import type { AcpAgent, AgentTable } from "./agent-table.ts";

const EXIT_MS = 2_000;

export interface CheckedAgent {
  /** As it says; null if it does not. */
  version: string | null;
  /** It continues its sessions itself: by resuming, by loading, or not at all. */
  continues: "resume" | "load" | "no";
  /** It takes MCP servers over HTTP. */
  hasHttpServers: boolean;
  modes: string[];
  models: string[];
  /** It works, but nobody has logged in. */
  needsLogin: boolean;
  /** Why it cannot be used, and what to do; null if it can. */
  problem: string | null;
}

export async function checkAgent(
  table: AgentTable,
  agent: AcpAgent,
  { directory, version }: { directory: string; version: string },
): Promise<CheckedAgent> {
  const checked: CheckedAgent = {
    version: null,
    continues: "no",
    hasHttpServers: false,
    modes: [],
    models: [],
    needsLogin: false,
    problem: table.problem(agent),
  };
  if (checked.problem !== null) return checked;
  const process = new AgentProcess(table.command(agent), directory);
  try {
    const connection = await AgentConnection.open(process, NOBODY, version);
    const { agentInfo, agentCapabilities } = connection.initialized;
    checked.version = agentInfo?.version ?? null;
    checked.hasHttpServers = agentCapabilities?.mcpCapabilities?.http === true;
    if (agentCapabilities?.loadSession === true) checked.continues = "load";
    if (agentCapabilities?.sessionCapabilities?.resume === true) checked.continues = "resume";
    const { modes, configOptions } = await connection.newSession({ cwd: directory, mcpServers: [] });
    const valuesOf = (category: string) => {
      const option = configOptions?.find((each) => each.category === category);
      return (option?.options ?? [])
        .flatMap((each) => [each, ...(each.options ?? [])])
        .flatMap(({ value }) => value ?? []);
    };
    checked.modes = modes?.availableModes.map(({ id }) => id) ?? valuesOf("mode");
    checked.models = valuesOf("model");
  } catch (thrown) {
    checked.needsLogin = thrown instanceof AgentRefusal && thrown.needsLogin;
    checked.problem = problemOf(thrown, agent.title, process.complaint);
  } finally {
    await process.end(EXIT_MS);
  }
  return checked;
}

/** Without a prompt nothing should come; whatever does is refused. */
const NOBODY = {
  onUpdate: () => {},
  onPermission: async () => ({ outcome: { outcome: "cancelled" } }),
  onQuestion: async () => ({ action: "cancel" }),
};

function problemOf(thrown: unknown, title: string, complaint: string): string {
  if (thrown instanceof AgentRefusal && thrown.needsLogin)
    return `${title} needs a login: log in with its own program.`;
  const said = complaint === "" ? "" : ` It said: ${complaint}`;
  if (thrown instanceof AgentGone) return `${title} ended (${thrown.message}).${said}`;
  return `${title}: ${messageOf(thrown)}.${said}`;
}
