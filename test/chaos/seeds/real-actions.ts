/**
 * The simulator's actions on real programs: parents call the plugin's tools in scripted turns, people use the status
 * API and OpenCode's own API. Each chooses as the simulated one does, among what there is in this run. It may be
 * refused, or find nobody there: that is an answer. What a real run cannot do is left out and counted.
 */
import type { PlannedAction } from "../../../simulation/scenario/actions.ts";
import type { Random } from "../../../simulation/time/random.ts";
import { messageOf } from "../../../src/model/errors.ts";
import { isLive } from "../../../src/model/task.ts";
import { type ModelCall, say } from "../../../src/testing/models/script.ts";
import type { RealProcess } from "./real-process.ts";
import type { RealParent, RealStage } from "./real-stage.ts";

/** What happened, in a few words; null if there was nobody or nothing to act on. */
type Act = (stage: RealStage, random: Random, index: number) => Promise<string | null>;

/** A turn of any parent in any process, in which the model makes these calls. */
function asParent(choose: (stage: RealStage, random: Random, parent: RealParent) => Promise<ModelCall[]>): Act {
  return async (stage, random, index) => {
    const [processes, parents] = [stage.up(), stage.livingParents()];
    if (processes.length === 0 || parents.length === 0) return null;
    const process = random.pick(processes);
    const chosen = random.pick(parents);
    const calls = await choose(stage, random, chosen);
    if (calls.length === 0) return null;
    const steps = [{ type: "toolCalls" as const, text: "", calls }, say("ok")];
    const { sessionId } = chosen.parent;
    await process.world.opencode.promptAsync(sessionId, `${stage.script(`action-${index}`, steps)} Go.`);
    return `in ${process.name} for ${sessionId}: ${JSON.stringify(calls.map(({ input }) => input))}`;
  };
}

function launches(stage: RealStage, count: number, more: Record<string, unknown> = {}): ModelCall[] {
  return Array.from({ length: count }, () => {
    const prompt = stage.nextPrompt();
    return { name: "asyncagents_task", input: { description: "work", prompt, agent: "general", ...more } };
  });
}

const ownTask = (stage: RealStage, random: Random, { parent }: RealParent, live: boolean) =>
  stage.anyTask(
    random,
    ({ parentSessionId, status }) => parentSessionId === parent.sessionId && (!live || isLive(status)),
  );

/** A process with its status API. */
function anyApi(stage: RealStage, random: Random) {
  const listening = stage.up().flatMap((process) => {
    const client = process.api();
    return client === null ? [] : [{ process, client }];
  });
  return listening.length === 0 ? null : random.pick(listening);
}

/** The sessions that a process works in. */
async function busy(processes: readonly RealProcess[]): Promise<{ process: RealProcess; id: string }[]> {
  const lists = await Promise.all(
    processes.map(async (process) => {
      const statuses = await process.world.opencode.client.statuses();
      return Object.keys(statuses).map((id) => ({ process, id }));
    }),
  );
  return lists.flat();
}

/** The permission requests that are open in a process. */
export async function openRequests(process: RealProcess): Promise<string[]> {
  const open = await process.world.opencode.client.request<{ id: string }[]>("GET", "/permission");
  return open.map(({ id }) => id);
}

const ACTS: Record<string, Act> = {
  "a parent launches a task": asParent(async (stage) => launches(stage, 1)),
  "a parent launches three tasks at once": asParent(async (stage) => launches(stage, 3)),
  "a parent forks itself": asParent(async (stage) => launches(stage, 1, { fork: true })),
  "a person launches a task": async (stage, random) => {
    const api = anyApi(stage, random);
    if (!api) return null;
    const prompt = stage.nextPrompt();
    const { id } = await api.client.launch({ description: "work", prompt, agent: "general" });
    stage.launched.add(id);
    return `over ${api.process.name}: ${id}`;
  },
  "a parent resumes a task": asParent(async (stage, random, parent) => {
    const task = await ownTask(stage, random, parent, false);
    return task ? [{ name: "asyncagents_task", input: { resume: task.id, prompt: stage.nextPrompt() } }] : [];
  }),
  "a person resumes a task": async (stage, random) => {
    const api = anyApi(stage, random);
    const task = api && (await stage.anyTask(random, () => true));
    if (!api || !task) return null;
    const { run } = await api.client.resume(task.id, stage.nextPrompt());
    stage.resumed.add(`${task.id} ${run.number}`);
    return `over ${api.process.name}: run ${run.number} of ${task.id}`;
  },
  "a parent cancels a task": asParent(async (stage, random, parent) => {
    const task = await ownTask(stage, random, parent, true);
    return task ? [{ name: "asyncagents_cancel", input: { task_id: task.id } }] : [];
  }),
  "a person cancels a task": async (stage, random) => {
    const api = anyApi(stage, random);
    const task = api && (await stage.anyTask(random, ({ status }) => isLive(status)));
    if (!api || !task) return null;
    const { status } = await api.client.cancel(task.id);
    return `over ${api.process.name}: ${task.id} is ${status}`;
  },
  "a parent cancels everything": asParent(async () => [{ name: "asyncagents_cancel", input: { all: true } }]),
  "a parent clears its list": asParent(async () => [{ name: "asyncagents_clear", input: {} }]),
  "a parent waits for a task": asParent(async (stage, random, parent) => {
    const task = await ownTask(stage, random, parent, false);
    if (!task) return [];
    const timeout = stage.scale(random.whole(0, 60_000));
    return [{ name: "asyncagents_output", input: { task_id: task.id, block: true, timeout } }];
  }),
  "a person answers a request": async (stage, random) => {
    const task = await stage.anyTask(random, ({ phase }) => phase === "waiting");
    const owner = task && (await stage.store.instances()).find(({ id }) => id === task.owner);
    const process = stage.up().find(({ world }) => world.opencode.pid === owner?.pid);
    const client = process?.api();
    if (!task || !client) return null;
    const decision = random.chance(0.8) ? "once" : "reject";
    await client.answer(task.id, { kind: "permission", decision });
    return `${decision} for ${task.id} over ${process?.name}`;
  },
  "a person answers in the agent's own program": async (stage, random) => {
    const processes = stage.up();
    const open = (
      await Promise.all(processes.map(async (process) => (await openRequests(process)).map((id) => ({ process, id }))))
    ).flat();
    if (open.length === 0) return null;
    const { process, id } = random.pick(open);
    await process.world.opencode.client.replyPermission(id, "once");
    return `${id} in ${process.name}`;
  },
  "a person writes to a task's session": async (stage, random) => {
    const task = await stage.anyTask(random, () => true);
    const processes = stage.up();
    if (!task || processes.length === 0) return null;
    const working = (await busy(processes)).find(({ id }) => id === task.sessionId);
    const process = working?.process ?? random.pick(processes);
    const text = stage.writtenPrompt(task.sessionId, random);
    await process.world.opencode.promptAsync(task.sessionId, text);
    return `to ${task.id} in ${process.name}`;
  },
  "a person stops a task in its own session": async (stage, random) => {
    const working = await busy(stage.up());
    if (working.length === 0) return null;
    const { process, id } = random.pick(working);
    await process.world.opencode.abort(id);
    return `${id} in ${process.name}`;
  },
  "a person writes to a parent": async (stage, random, index) => {
    const [processes, parents] = [stage.up(), stage.livingParents()];
    if (processes.length === 0 || parents.length === 0) return null;
    const { sessionId } = random.pick(parents).parent;
    const process = random.pick(processes);
    const marker = stage.script(`action-${index}`, [say("fine")]);
    await process.world.opencode.promptAsync(sessionId, `${marker} How is it going?`);
    return `to ${sessionId} in ${process.name}`;
  },
  "a person deletes a task's session": async (stage, random) => {
    const task = await stage.anyTask(random, () => true);
    const processes = stage.up();
    if (!task || processes.length === 0) return null;
    const process = random.pick(processes);
    await process.world.opencode.deleteSession(task.sessionId);
    return `${task.id} in ${process.name}`;
  },
  "a person deletes a parent": async (stage, random) => {
    const [processes, parents] = [stage.up(), stage.livingParents()];
    if (processes.length === 0 || parents.length === 0) return null;
    const chosen = random.pick(parents);
    chosen.isDeleted = true;
    const process = random.pick(processes);
    await process.world.opencode.deleteSession(chosen.parent.sessionId);
    return `${chosen.parent.sessionId} in ${process.name}`;
  },
};

export async function actFor(stage: RealStage, { name }: PlannedAction, index: number): Promise<void> {
  const act = ACTS[name];
  const who = `action ${index}`;
  if (!act) return stage.leaveOut(name);
  stage.tell(who, name);
  stage.unanswered.add(who);
  try {
    const done = await act(stage, stage.random.split(`action ${index}`), index);
    stage.tell(who, done === null ? `${name}: nothing to do` : `${name}: ${done}`);
  } catch (thrown) {
    stage.tell(who, `${name}: refused: ${messageOf(thrown).split("\n")[0]}`);
  } finally {
    stage.unanswered.delete(who);
  }
}
