/**
 * The hosts by the names that operations give them: the only table of them, for the server, the command line and the
 * dashboard. Without schemas, so that a page can load it alone. No behaviour.
 */
/** In this order they are offered; the first that can be used is the dashboard's default. */
export const EXECUTOR_HOSTS = {
  OPENCODE: "opencode",
  CLAUDE_CODE: "claude",
  ACP: "acp",
  SCRIPTED: "scripted",
} as const;

export type ExecutorName = keyof typeof EXECUTOR_HOSTS;
export type HostName = (typeof EXECUTOR_HOSTS)[ExecutorName];

export const EXECUTORS = Object.keys(EXECUTOR_HOSTS) as readonly ExecutorName[];

/**
 * Whether models are offered it, or only people: an agent that changes files as its prompt says, without a model that
 * could refuse, is for people. `ASYNCAGENTS_SCRIPTED` offers models all of those.
 */
const OFFERED_TO_MODELS: Readonly<Record<ExecutorName, boolean>> = {
  OPENCODE: true,
  CLAUDE_CODE: true,
  ACP: true,
  SCRIPTED: false,
};

/** The executor whose agents are programs of their own; each is an executor by itself, such as `ACP:codex`. */
export const ACP_EXECUTOR = "ACP" satisfies ExecutorName;

/** The executor of one ACP agent. */
export function acpExecutor(agent: string): string {
  return `${ACP_EXECUTOR}:${agent}`;
}

/** The executor and the agent that a name such as `ACP:codex` stands for; no agent if it names none. */
export function splitExecutor(given: string): { executor: string; agent: string | null } {
  const colon = given.indexOf(":");
  if (colon === -1) return { executor: given.trim(), agent: null };
  return { executor: given.slice(0, colon).trim(), agent: given.slice(colon + 1).trim() || null };
}

export const EXECUTORS_FOR_MODELS = EXECUTORS.filter((name) => OFFERED_TO_MODELS[name]);
