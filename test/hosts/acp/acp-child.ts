/** A program that runs one prompt on the ACP host until its test kills it. */
import { acpHost } from "../../../src/hosts/acp/acp-host.ts";
import type { AgentSettings } from "../../../src/hosts/acp/agents/agent-settings.ts";
import { AgentTable } from "../../../src/hosts/acp/agents/agent-table.ts";

interface Given {
  directory: string;
  folder: string;
  agent: string;
  settings: AgentSettings;
  environment: Record<string, string>;
  text: string;
  messageId: string;
  launch: string;
}

const { directory, folder, agent, settings, environment, text, messageId, launch } = (await Bun.stdin.json()) as Given;
const agents = new AgentTable(environment, { [agent]: settings });
const host = acpHost({ directory, folder, agents, silentMs: 600_000, version: "0.0.0" });
const start = { parentSessionId: "", parentAgent: "", title: "Killed", agent, model: null, launchId: launch };
const session = await host.start({ ...start, denyTools: [] });
await host.prompt(session, { messageId, text, agent, model: null });
await Bun.sleep(600_000);
