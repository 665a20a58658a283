/**
 * The hosts that the daemon can start, and what is known about them before one is started. A host
 * also needs a name in `src/protocol/executor-names.ts`: the compiler compares the two. Starts nothing by itself.
 */
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import type { ExecutorInfo } from "../board/board-context.ts";
import type { Configuration } from "../configuration/sections.ts";
import type { Engine } from "../engine/engine.ts";
import type { Runner } from "../engine/runner.ts";
import { acpHosts } from "../hosts/acp/acp-hosts.ts";
import { claudeHosts } from "../hosts/claude/claude-hosts.ts";
import type { HostMaker } from "../hosts/host-maker.ts";
import { openCodeServer } from "../hosts/opencode/server.ts";
import { scriptedHosts } from "../hosts/scripted/scripted-hosts.ts";
import { messageOf } from "../model/errors.ts";
import type { Log } from "../process/log.ts";
import type { HostName } from "../protocol/executor-names.ts";

export interface DaemonHostsOptions {
  /** The data folder. */
  directory: string;
  configuration: Pick<Configuration, "opencode" | "claude" | "agents">;
  /** For the programs that they start. */
  environment: Record<string, string | undefined>;
  log: Log;
}

/** A maker whose kind is a name that operations know. */
export type NamedMaker = HostMaker & { readonly kind: HostName };

export function hostMakers({ directory, configuration, environment, log }: DaemonHostsOptions): NamedMaker[] {
  const { program } = configuration.opencode;
  const { permissionMode } = configuration.claude;
  const { known: agents, silentMinutes } = configuration.agents;
  const makers: { [Name in HostName]: HostMaker & { readonly kind: Name } } = {
    opencode: openCodeServer({
      ...(program && { command: program }),
      environment,
      folder: join(directory, "opencode"),
      log,
    }),
    claude: claudeHosts({ folder: join(directory, "claude"), environment, options: { permissionMode }, log }),
    acp: acpHosts({
      folder: join(directory, "acp"),
      environment,
      agents,
      silentMs: silentMinutes * 60_000,
      version: manifest.version,
    }),
    scripted: scriptedHosts({ folder: join(directory, "scripted") }),
  };
  return Object.values(makers);
}

/** With a directory: the agents available there, which starts the host. Without one: those known already. */
export function executorsOf(
  makers: readonly HostMaker[],
  runner: Runner,
  directory: string | null,
): Promise<ExecutorInfo[]> {
  return Promise.all(
    makers.map(async (maker): Promise<ExecutorInfo> => {
      const conditions = maker.agents?.();
      const unknown = { host: maker.kind, defaultAgent: null, agents: [], ...(conditions && { conditions }) };
      const problem = await maker.problem();
      if (problem !== null) return { ...unknown, problem };
      try {
        const engine = await engineOf(maker.kind, runner, directory);
        if (!engine) return { ...unknown, problem: null };
        const agents = (await engine.agents()).map(({ name }) => name);
        return { ...unknown, problem: null, defaultAgent: engine.defaultAgent, agents };
      } catch (thrown) {
        return { ...unknown, problem: messageOf(thrown) };
      }
    }),
  );
}

async function engineOf(host: string, runner: Runner, directory: string | null): Promise<Engine | undefined> {
  if (directory !== null) return runner.open(host, directory);
  return runner.engines().find(({ instance }) => instance.host === host);
}
