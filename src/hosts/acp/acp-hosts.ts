/**
 * Creates ACP hosts: one per directory, all with the same transcripts. Each run has a process of its own, so there is
 * no program to keep alive here.
 */
import type { AgentCondition, HostMaker, OpenedHost } from "../host-maker.ts";
import { type AcpHost, acpHost } from "./acp-host.ts";
import type { AgentSettings } from "./agents/agent-settings.ts";
import { AgentTable } from "./agents/agent-table.ts";

interface AcpHostsOptions {
  /** A dedicated folder for the transcripts. */
  folder: string;
  /** The complete environment of the agents; defaults to that of this process. */
  environment?: Record<string, string | undefined>;
  /** What the configuration says about agents, by name. */
  agents?: Readonly<Record<string, AgentSettings>>;
  silentMs: number;
  /** Of this program. */
  version: string;
}

interface AcpHosts extends HostMaker {
  readonly kind: "acp";
  agents(): readonly AgentCondition[];
}

export function acpHosts(options: AcpHostsOptions): AcpHosts {
  const { folder, environment = process.env, agents: settings = {}, silentMs, version } = options;
  const hosts = new Set<AcpHost>();
  const agents = new AgentTable(environment, settings);
  const close = async (host: AcpHost) => {
    hosts.delete(host);
    await host.close();
  };
  return {
    kind: "acp",
    async problem() {
      if (agents.installed().length > 0) return null;
      return "No ACP agent is installed. `asyncagents agents` lists those that can be used, and how to install them.";
    },
    agents: () =>
      agents.all().map((agent) => {
        const untested = agent.isUntested ? ["was not tested: failures that it does not report may be missed"] : [];
        const { name, title, limits } = agent;
        return { name, title, problem: agents.problem(agent), limits: [...limits, ...untested] };
      }),
    async open(directory): Promise<OpenedHost> {
      const host = acpHost({ directory, folder, agents, silentMs, version });
      hosts.add(host);
      return { host, close: () => close(host) };
    },
    async stop() {
      await Promise.all([...hosts].map(close));
    },
  };
}
