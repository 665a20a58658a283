/**
 * Opens the agent's own session for a run: resumes or loads the earlier one where the agent can, otherwise opens a new
 * one with an account of it; then sets mode and model, which agents forget. What the agent does not offer is refused as
 * `host_unsupported`. Does not prompt.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { accountOf } from "./account.ts";
import type { McpServerSettings } from "./agents/agent-settings.ts";
import type { AcpAgent } from "./agents/agent-table.ts";
import type { AgentConnection } from "./connection.ts";
import { AgentRefusal } from "./connection-errors.ts";
import type { RunView } from "./run-view.ts";
import type { AcpOpening } from "./transcript-lines.ts";
import type { AcpOpened } from "./wire.ts";

export interface Wanted {
  agent: AcpAgent;
  directory: string;
  model: string | null;
  denyTools: readonly string[];
  /** The earlier runs of the session. */
  runs: readonly RunView[];
  now: number;
}

export interface OpenedSession {
  agentSession: string;
  how: AcpOpening;
  account: string | null;
}

export async function openAgentSession(connection: AgentConnection, wanted: Wanted): Promise<OpenedSession> {
  const before = wanted.runs.findLast((run) => run.opening !== null && run.hasBegun);
  const last = before?.opening ?? null;
  if (last === null) return openNew(connection, wanted, null);
  if (before?.end?.lost === true) return openNew(connection, wanted, `${wanted.agent.title} has lost it`);
  const again = await reopen(connection, wanted, last.agentSession);
  if ("reason" in again) return openNew(connection, wanted, again.reason);
  await applySettings(connection, wanted, last.agentSession, again.opened);
  return { agentSession: last.agentSession, how: again.how, account: null };
}

/** `reason`: why the earlier session cannot be continued; null if there is none. */
export async function openNew(
  connection: AgentConnection,
  wanted: Wanted,
  reason: string | null,
): Promise<OpenedSession> {
  const { agent, denyTools, runs } = wanted;
  const denial = denyTools.length > 0 ? agent.profile.denial?.(denyTools) : undefined;
  const opened = await connection.newSession({ ...baseOf(connection, wanted), ...(denial && { _meta: denial }) });
  await applySettings(connection, wanted, opened.sessionId, opened);
  const account = reason === null ? null : accountOf(runs, reason);
  return { agentSession: opened.sessionId, how: account === null ? "new" : "account", account };
}

function baseOf(connection: AgentConnection, { agent, directory }: Wanted) {
  return { cwd: directory, mcpServers: serversFor(connection, agent) };
}

type Again = { opened: AcpOpened; how: "resumed" | "loaded" } | { reason: string };

/** An agent that refuses is not asked again; one that dies ends the run. */
async function reopen(connection: AgentConnection, wanted: Wanted, agentSession: string): Promise<Again> {
  const { agent, runs, now } = wanted;
  const { loadSession = false, sessionCapabilities } = connection.initialized.agentCapabilities ?? {};
  const params = { ...baseOf(connection, wanted), sessionId: agentSession };
  let reason = `${agent.title} cannot continue sessions`;
  const attempt = async (method: "session/resume" | "session/load") => {
    try {
      return await connection.reopen(method, params);
    } catch (thrown) {
      if (!(thrown instanceof AgentRefusal)) throw thrown;
      reason = `${agent.title}: ${messageOf(thrown)}`.slice(0, 300);
      return null;
    }
  };
  const resumed = sessionCapabilities?.resume === true ? await attempt("session/resume") : null;
  if (resumed) return { opened: resumed, how: "resumed" };
  if (!loadSession) return { reason };
  const since = runs.find(({ opening }) => opening?.agentSession === agentSession)?.opening?.at ?? now;
  if (now - since < agent.profile.loadableAfterMs) {
    return { reason: `${agent.title} cannot load a session in its first minute` };
  }
  const loaded = await attempt("session/load");
  return loaded ? { opened: loaded, how: "loaded" } : { reason };
}

async function applySettings(
  connection: AgentConnection,
  { agent, model }: Wanted,
  sessionId: string,
  opened: AcpOpened,
): Promise<void> {
  await setMode(connection, agent, sessionId, opened);
  const wanted = model ?? agent.settings.model ?? null;
  if (wanted !== null) await setModel(connection, agent, { sessionId, opened, wanted });
}

async function setMode(
  connection: AgentConnection,
  agent: AcpAgent,
  sessionId: string,
  { modes, configOptions }: AcpOpened,
): Promise<void> {
  const option = configOptions?.find(({ category }) => category === "mode");
  const offered = modes?.availableModes.map(({ id }) => id) ?? valuesOf(option);
  const own = agent.settings.mode;
  if (own !== undefined && !offered.includes(own)) throw notOffered(agent, "mode", own, offered);
  const mode = own ?? agent.profile.modes.find((each) => offered.includes(each));
  if (mode === undefined && agent.profile.modes.length > 0 && offered.length > 0) throw noAskingMode(agent, offered);
  if (mode === undefined || mode === (modes?.currentModeId ?? option?.currentValue)) return;
  if (modes) await connection.set("session/set_mode", { sessionId, modeId: mode });
  else await connection.set("session/set_config_option", { sessionId, configId: option?.id, value: mode });
}

async function setModel(
  connection: AgentConnection,
  agent: AcpAgent,
  { sessionId, opened, wanted }: { sessionId: string; opened: AcpOpened; wanted: string },
): Promise<void> {
  const option = opened.configOptions?.find(({ category }) => category === "model");
  const short = wanted.slice(wanted.indexOf("/") + 1);
  const offered = valuesOf(option);
  const value = offered.find((each) => each === wanted) ?? offered.find((each) => each === short);
  if (value !== undefined) {
    if (value === option?.currentValue) return;
    return connection.set("session/set_config_option", { sessionId, configId: option?.id, value });
  }
  if (option === undefined && agent.profile.hasOldModelMethod === true) {
    return connection.set("session/set_model", { sessionId, modelId: short });
  }
  throw notOffered(agent, "model", wanted, offered);
}

type ConfigOption = NonNullable<AcpOpened["configOptions"]>[number];

/** Values may come in groups. */
function valuesOf(option: ConfigOption | undefined): string[] {
  return (option?.options ?? []).flatMap((each) => [each, ...(each.options ?? [])]).flatMap(({ value }) => value ?? []);
}

/** Its default may let it do anything: a person chooses then. */
function noAskingMode({ name, title, profile }: AcpAgent, offered: readonly string[]): AsyncAgentsError {
  const message = `${title} offers none of its modes that are known to ask (${profile.modes.join(", ")}), but ${offered.slice(0, 30).join(", ")}. Set agents.known.${name}.mode to one of these.`;
  return new AsyncAgentsError("host_unsupported", message);
}

function notOffered(agent: AcpAgent, what: string, wanted: string, offered: readonly string[]): AsyncAgentsError {
  const list =
    offered.length === 0 ? "It offers none to choose from." : `It offers ${offered.slice(0, 30).join(", ")}.`;
  return new AsyncAgentsError("host_unsupported", `${agent.title} has no ${what} ${JSON.stringify(wanted)}. ${list}`);
}

function serversFor({ initialized }: AgentConnection, agent: AcpAgent): unknown[] {
  const hasHttp = initialized.agentCapabilities?.mcpCapabilities?.http === true;
  return Object.entries(agent.settings.mcpServers ?? {}).map(([name, server]) => {
    const isTaken = "url" in server ? hasHttp : agent.profile.hasProgramServers;
    if (isTaken) return serverParams(name, server);
    const kind = "url" in server ? "over HTTP" : "that are programs";
    const message = `${agent.title} takes no MCP servers ${kind}: remove ${name} from agents.known.${agent.name}.mcpServers.`;
    throw new AsyncAgentsError("host_unsupported", message);
  });
}

function serverParams(name: string, server: McpServerSettings): unknown {
  const list = (pairs: Record<string, string> = {}) =>
    Object.entries(pairs).map(([key, value]) => ({ name: key, value }));
  if ("url" in server) return { type: "http", name, url: server.url, headers: list(server.headers) };
  return { name, command: server.command, args: server.arguments ?? [], env: list(server.environment) };
}
