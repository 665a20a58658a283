/**
 * Begins a claimed run in this engine: makes its session, stores it in the transaction that ends the claim, and lets
 * the driver begin. Until that transaction nothing was prompted, so a claim that is lost on the way costs nothing: its
 * next runner finds or makes a session of its own. The claimer extends the claim meanwhile.
 */
import { type AgentInfo, isRefusal } from "../../hosts/host.ts";
import { type PredecessorEnd, resultsIn, withResults } from "../../model/after.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { TaskClaimed } from "../../model/events.ts";
import { isLive, type Task, type TaskClone } from "../../model/task.ts";
import type { Transition } from "../../model/transition.ts";
import type { ClaimedRun } from "../../store/queue/run-queue.ts";
import type { EngineContext } from "../context.ts";
import type { Recovery } from "../recovery/recovery.ts";
import type { Driver } from "../runs/driver.ts";

interface LaunchParts {
  context: EngineContext;
  driver: Driver;
  recovery: Pick<Recovery, "giveUp">;
  depthOf(sessionId: string): Promise<number>;
  findAgent(name: string): Promise<AgentInfo>;
}

/**
 * Resolves when the run is stored as this engine's. Rejects with `task_not_live` if the claim was lost. `clone` says
 * where the engine's directory comes from, if this machine had to get it.
 */
export function launchClaimed(parts: LaunchParts, claimed: ClaimedRun, clone: TaskClone | null): Promise<Task> {
  const { driver } = parts;
  return driver.admit(() => driver.lull.during(() => launch(parts, claimed, clone)));
}

async function launch(parts: LaunchParts, claimed: ClaimedRun, clone: TaskClone | null): Promise<Task> {
  const { context, driver } = parts;
  const { host, reach, now, instance } = context;
  const { task } = claimed;
  const prompt = await promptOf(context, task);
  const agent = await parts.findAgent(task.agent || host.defaultAgent);
  const model = task.model ?? agent.model;
  const sessionId = await findOrMakeSession(parts, claimed, { agent: agent.name, model });
  reach("session-made");
  const event: TaskClaimed = {
    type: "task.claimed",
    at: now(),
    run: task.run.number,
    owner: instance.id,
    machine: instance.machine,
    sessionId,
    directory: instance.directory,
    clone,
    agent: agent.name,
    model,
    messageId: host.newMessageId(),
  };
  return driver.beginning(task.id, async () => {
    const begun = await begin(parts, claimed, event);
    if (!begun.changed) throw claimLost(task.id);
    reach("row-written");
    driver.begin({ ...begun.task, run: { ...begun.task.run, prompt } }, claimed.run.limits);
    return begun.task;
  });
}

/** What is sent: the stored prompt, with the results that it asks for. The stored one is never replaced. */
async function promptOf({ store, newId }: EngineContext, { run, after }: Task): Promise<string> {
  if (after === null || resultsIn(run.prompt).length === 0) return run.prompt;
  const ends = new Map<string, PredecessorEnd>();
  for (const id of after.tasks) {
    const runs = await store.runs(id);
    const end = runs.find(({ outcome }) => outcome === "completed") ?? runs[0];
    if (end) ends.set(id, end);
  }
  return withResults(run.prompt, after, ends, () => newId("quote"));
}

/** The session that an earlier claim made and never prompted, or a new one. */
async function findOrMakeSession(
  { context, depthOf }: LaunchParts,
  { task, run }: ClaimedRun,
  { agent, model }: { agent: string; model: string | null },
): Promise<string> {
  const { host, settings } = context;
  // A retry gets another session: the first one was prompted.
  const launchId = `${task.id}-${run.retries}`;
  const { parentSessionId, parentAgent, description: title, startedAt: at } = task;
  const find = async () => (await host.findLaunched?.({ launchId, parentSessionId, at }).catch(() => null)) ?? null;
  const known = await find();
  if (known !== null) return known;
  const denyTools = (await depthOf(parentSessionId)) + 1 >= settings.maxDepth ? settings.ownTools : [];
  try {
    return await host.start({ parentSessionId, parentAgent, title, agent, model, launchId, denyTools });
  } catch (thrown) {
    // Perhaps only the response was lost: then the session exists, with the mark of this launch.
    const made = isRefusal(thrown) ? null : await find();
    if (made !== null) return made;
    throw thrown;
  }
}

/** If the store failed and has the run, only the answer was lost. */
async function begin(
  { context, recovery }: LaunchParts,
  { taskId, fence }: ClaimedRun,
  event: TaskClaimed,
): Promise<Transition> {
  const { store, instance } = context;
  const { messageId } = event;
  try {
    return await store.queue.begin({ taskId, fence }, event);
  } catch (thrown) {
    const task = await store.task(taskId).catch(() => null);
    const isOurs = task !== null && isLive(task.status) && task.owner === instance.id;
    if (isOurs && task.run.messageId === messageId) return { changed: true, task, notice: null };
    await recovery.giveUp({ messageId, taskId, launchId: null });
    throw thrown;
  }
}

function claimLost(taskId: string): AsyncAgentsError {
  const message = `Task ${taskId} was cancelled, another runner claimed it, or this one is not registered at the moment.`;
  return new AsyncAgentsError("task_not_live", message);
}
