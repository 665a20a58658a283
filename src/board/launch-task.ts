/**
 * Launching a task without a project: the one way for the dashboard, the command line, other programs and models. Finds
 * the engine or the instance that can, and launches if it is in this process. Each operation that launches has checked
 * its own input, and whether its caller may launch there.
 */
import { realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Desk, EngineOrInstance } from "../engine/desk.ts";
import type { LaunchRequest } from "../engine/launch.ts";
import type { QueueChoices, QueueFolder } from "../engine/queue/enqueue.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { folderProblem } from "../model/folder-problem.ts";
import type { Task } from "../model/task.ts";
import { type CallOrigin, isOwner } from "../protocol/call-origin.ts";
import type { Instance } from "../store/store.ts";
import { folderSource } from "../worktree/clones/folder-source.ts";

interface TaskLaunch
  extends Pick<
    LaunchRequest,
    "description" | "prompt" | "batch" | "model" | "limits" | "after" | "budget" | "isAgents"
  > {
  /** Null for the host's default agent. */
  agent: string | null;
  /** Null for whichever host is open in the directory. */
  host: string | null;
  /** Null for the only directory that this process works in. */
  directory: string | null;
}

/** A launch for any runner: it needs a host and a folder, and nobody here. */
export interface QueuedLaunch extends Omit<TaskLaunch, "host" | "directory"> {
  host: string;
  directory: string;
  choices: QueueChoices;
}

/**
 * The task, and why only a runner of this machine can do it; null if any can, or there is no other machine. Models, and
 * people who may not approve what they do, can queue only so many.
 */
export async function queueTask(
  desk: Desk,
  launch: QueuedLaunch,
  origin: CallOrigin,
): Promise<{ task: Task; bound: string | null }> {
  const { agent, directory, ...request } = launch;
  const folder = await queueFolder(folderOf(directory), desk.hasOtherMachines, origin);
  const task = await desk.enqueue({ ...request, agent: agent ?? "", folder }, { isLimited: !isOwner(origin) });
  return { task, bound: folder.bound };
}

/**
 * Agents write the config of a repository, and with it the address that another machine would fetch with its own keys:
 * so only the owner's tasks are cloned.
 */
async function queueFolder(directory: string, hasOthers: boolean, origin: CallOrigin): Promise<QueueFolder> {
  if (!hasOthers) return { directory, repository: null, bound: null };
  if (!isOwner(origin)) return { directory, repository: null, bound: "a model or a token below admin queued it" };
  const source = await folderSource(directory);
  if ("problem" in source) return { directory, repository: null, bound: source.problem };
  return { directory, repository: source, bound: null };
}

/** The launched task, or the instance that has to be asked instead. */
type Launched = { task: Task } | { instance: Instance };

/** `findDaemon` gives the instance of a process that starts hosts itself; null if there is no other. */
export async function launchTask(
  desk: Desk,
  { agent, host, directory, ...request }: TaskLaunch,
  findDaemon: () => Promise<Instance | null>,
): Promise<Launched> {
  const place = await placeOf(desk, { host, directory }, findDaemon);
  if ("instance" in place) return place;
  return { task: await desk.launch(place.engine, { ...request, agent: agent ?? place.engine.defaultAgent }) };
}

async function placeOf(
  desk: Desk,
  { host, directory }: Pick<TaskLaunch, "host" | "directory">,
  findDaemon: () => Promise<Instance | null>,
): Promise<EngineOrInstance> {
  try {
    return await desk.placeOfLaunch(directory, host);
  } catch (thrown) {
    if (!AsyncAgentsError.isInstance(thrown) || thrown.code !== "host_unavailable") throw thrown;
    const instance = await findDaemon();
    if (instance === null) throw thrown;
    return { instance };
  }
}

/** The real path of a folder that a caller named. */
export function folderOf(directory: string): string {
  const problem = isAbsolute(directory) ? folderProblem(directory, statSync) : "is not an absolute path";
  if (problem === null) return realpathSync(directory);
  const message = `directory: ${JSON.stringify(directory.slice(0, 300))} ${problem}. Give the absolute path of a folder.`;
  throw new AsyncAgentsError("invalid_input", message, { details: { field: "directory" } });
}
