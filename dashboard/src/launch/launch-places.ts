/**
 * Where tasks can be launched: the hosts that this server or the daemon can open, the known folders, and the agents
 * there.
 */
import { EXECUTOR_HOSTS, splitExecutor } from "../../../src/protocol/executor-names.ts";
import type { ServerInstance } from "../../../src/protocol/server.ts";
import { useExecutors } from "../server/board-queries.ts";
import type { Executor } from "../server/operate.ts";
import { useInstances, useRecentTasks } from "../server/queries.ts";
import { executorLabel } from "../wording/attempts.ts";

export interface LaunchHost {
  host: string;
  label: string;
  /** Why it is unavailable, with what to do. */
  problem: string | null;
  agents: readonly LaunchAgent[];
}

interface LaunchAgent {
  name: string;
  description: string | null;
}

export interface LaunchPlaces {
  hosts: LaunchHost[];
  directories: string[];
  instances: readonly ServerInstance[];
}

const HOSTS: Record<string, string> = EXECUTOR_HOSTS;

/** Null until the server has answered. Without a daemon only this server's own hosts are listed. */
export function useLaunchPlaces(): { places: LaunchPlaces | null; error: Error | null; retry: () => void } {
  const instances = useInstances();
  const executors = useExecutors();
  const recent = useRecentTasks();
  const retry = () => void instances.refetch();
  if (instances.isPending || executors.isPending) return { places: null, error: null, retry };
  if (instances.data === undefined) return { places: null, error: instances.error, retry };
  const directories = [
    ...instances.data.map(({ directory }) => directory),
    ...(recent.data?.tasks ?? []).map(({ directory }) => directory),
  ];
  return {
    places: {
      hosts: hostsOf(executors.data?.executors ?? [], instances.data),
      directories: [...new Set(directories)],
      instances: instances.data,
    },
    error: null,
    retry,
  };
}

function hostsOf(executors: readonly Executor[], instances: readonly ServerInstance[]): LaunchHost[] {
  const names = [...new Set(executors.map(({ executor }) => splitExecutor(executor).executor))];
  const opened = names.map((name) =>
    hostNamed(
      name,
      executors.filter(({ executor }) => splitExecutor(executor).executor === name),
    ),
  );
  const served = [...new Set(instances.map(({ host }) => host))]
    .filter((host) => !opened.some((each) => each.host === host && each.problem === null))
    .map((host) => ({ host, label: host, problem: null, agents: [] }));
  const usable = [...served, ...opened.filter((each) => !served.some(({ host }) => host === each.host))];
  return usable.toSorted((one, other) => Number(one.problem !== null) - Number(other.problem !== null));
}

/** Of executors such as `ACP:codex`, each is an agent of one host; what they cannot do is their description. */
function hostNamed(name: string, executors: readonly Executor[]): LaunchHost {
  const works = executors.filter(({ available }) => available);
  const agents = works.flatMap(({ executor, variants, limits }): LaunchAgent[] => {
    const { agent } = splitExecutor(executor);
    if (agent === null) return variants.map((variant) => ({ name: variant, description: null }));
    return [{ name: agent, description: limits?.join("; ") || null }];
  });
  return {
    host: HOSTS[name] ?? name.toLowerCase(),
    label: `${executorLabel(name)}${works.length > 0 ? "" : " (not available)"}`,
    problem: works.length > 0 ? null : (executors[0]?.problem ?? null),
    agents,
  };
}

/** The folder's agents if something already runs there; otherwise those that the host is known to have. */
export function agentsAt({ instances, hosts }: LaunchPlaces, host: string, directory: string): readonly LaunchAgent[] {
  const here = instances.find((each) => each.host === host && each.directory === directory);
  if (here) return here.agents;
  return hosts.find((each) => each.host === host)?.agents ?? [];
}
