/**
 * Launching a task without a project: the one way for the dashboard, the command line, other programs and models. Finds
 * the process that can, and launches if it is this one. Each operation that launches has checked its own input, and
 * whether its caller may launch there.
 */
import type { Desk, EngineOrPeer } from "../engine/desk.ts";
import type { LaunchRequest } from "../engine/launch.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import type { Task } from "../model/task.ts";

interface TaskLaunch extends Pick<LaunchRequest, "description" | "prompt" | "batch" | "model" | "limits"> {
  /** Null for the host's default agent. */
  agent: string | null;
  /** Null for whichever host is open in the directory. */
  host: string | null;
  /** Null for the only directory that this process works in. */
  directory: string | null;
}

/** The launched task, or the process that has to be asked instead. */
type Launched = { task: Task } | { pid: number };

/** `findDaemon` gives the process that starts hosts itself; null if there is none. */
export async function launchTask(
  desk: Desk,
  { agent, host, directory, ...request }: TaskLaunch,
  findDaemon: () => number | null,
): Promise<Launched> {
  const place = await placeOf(desk, { host, directory }, findDaemon);
  if ("pid" in place) return place;
  return { task: await desk.launch(place.engine, { ...request, agent: agent ?? place.engine.defaultAgent }) };
}

async function placeOf(
  desk: Desk,
  { host, directory }: Pick<TaskLaunch, "host" | "directory">,
  findDaemon: () => number | null,
): Promise<EngineOrPeer> {
  try {
    return await desk.placeOfLaunch(directory, host);
  } catch (thrown) {
    if (!AsyncAgentsError.isInstance(thrown) || thrown.code !== "host_unavailable") throw thrown;
    const daemon = findDaemon();
    if (daemon === null || daemon === process.pid) throw thrown;
    return { pid: daemon };
  }
}
