/**
 * What people do where there are runners: queue tasks for any of them, cancel them at every stage, go on with what ran
 * on another machine, and end runners. Planned apart from the other actions.
 */
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { awaitsRunner, isLive, type Task } from "../../src/model/task.ts";
import { LABEL } from "../roles/fleet.ts";
import type { Random } from "../time/random.ts";
import type { ACTIONS } from "./actions.ts";
import { anyTask, type Stage } from "./stage.ts";

/** Within which time after a step of a runner somebody cancels. */
const SOON_MS = 3_000;
const DRAIN_MS = 60_000;
const RESTART_MS = 30_000;
/** Steps of a runner at which a cancel hurts most. */
const STEPS = [
  "claims runs",
  "find launch",
  "start",
  "task.claimed",
  "begins claim",
  "prompt",
  "run.requeued",
] as const;
/** Errors with which a resume changes nothing. */
const UNDONE: ReadonlySet<string> = new Set(["task_running", "session_gone", "not_resumable"]);

function isQueued({ id }: Task): boolean {
  return id.startsWith("tsk_");
}

async function enqueue({ daemon, machine, promises }: Stage, random: Random): Promise<void> {
  const prompt = `prompt ${machine.newId("p")}`;
  const host = random.chance(0.8) ? "opencode" : "claude";
  const labels = random.chance(0.4) ? [LABEL] : [];
  const isAnywhere = random.chance(0.6);
  const repository = isAnywhere ? { remote: "https://git.example/repository", commit: "c0ffee", path: "" } : null;
  const ask = { host, labels, machine: isAnywhere ? null : daemon.process.place, retry: random.pick([0, 0, 1, 2]) };
  promises.asked.set(prompt, ask);
  const task = await daemon.enqueue({
    description: "work",
    prompt,
    batch: null,
    host,
    agent: random.chance(0.5) ? "build" : "",
    folder: { directory: "/", repository, bound: null },
    choices: { labels, priority: random.pick([0, 0, 0, 5, -5]), retry: ask.retry },
  });
  promises.accepted.push({ id: task.id, run: 0, prompt });
}

/** What the answer says has to be true: a task that it calls cancelled is never prompted from now on. */
async function cancelThroughDaemon({ daemon, machine, promises }: Stage, { id, run }: Task): Promise<void> {
  const task = await (async () => {
    const current = await daemon.find(id);
    if (current === null || !isLive(current.status)) return null;
    promises.stoppedRuns.add(`${id} ${current.run.number}`);
    return daemon.cancel(current);
  })();
  if (task === null || task.run.number !== run.number) return;
  const key = `${id} ${run.number}`;
  if (isLive(task.status)) promises.cancelled.set(key, machine.timeline.now);
  else if (task.status === "cancelled") promises.overSince.set(key, machine.timeline.now);
}

export const FLEET_ACTIONS: typeof ACTIONS = {
  "a person queues a task for any runner": { weight: 5, act: enqueue },
  "a person queues three tasks at once": {
    weight: 3,
    async act(stage, random) {
      await Promise.allSettled([1, 2, 3].map((which) => enqueue(stage, random.split(`task ${which}`))));
    },
  },
  "a person cancels a task that waits for a runner": {
    weight: 1,
    async act(stage, random) {
      const task = await anyTask(stage, random, (each) => isQueued(each) && awaitsRunner(each));
      if (task) await cancelThroughDaemon(stage, task);
    },
  },
  "a person cancels a task of the queue": {
    weight: 1,
    async act(stage, random) {
      const task = await anyTask(stage, random, (each) => isQueued(each) && isLive(each.status));
      if (task) await cancelThroughDaemon(stage, task);
    },
  },
  "a person cancels a task while a runner begins it": {
    weight: 3,
    async act(stage, random) {
      const { machine, runners } = stage;
      const delay = random.delay(SOON_MS);
      const tryTo = async () => {
        const claimed = new Set(stage.queue?.claimed());
        const isFitting = (each: Task) => isQueued(each) && isLive(each.status);
        const task =
          (await anyTask(stage, random, ({ id }) => claimed.has(id))) ?? (await anyTask(stage, random, isFitting));
        if (task) await cancelThroughDaemon(stage, task);
      };
      if (runners.length === 0) return;
      random.pick(runners).process.watch(random.pick(STEPS), () => {
        machine.timeline.schedule(delay, () => machine.forget("a person", "cancels what a runner begins", tryTo()));
      });
    },
  },
  "a person goes on with a task of the queue": {
    weight: 3,
    async act(stage, random) {
      const { daemon, machine, promises } = stage;
      const isFitting = (each: Task) => isQueued(each) && !isLive(each.status) && each.sessionId !== "";
      const task = await anyTask(stage, random, isFitting);
      if (!task) return;
      const prompt = `prompt ${machine.newId("p")}`;
      try {
        const { run } = await daemon.resume(task.id, prompt);
        promises.accepted.push({ id: task.id, run: run.number, prompt });
      } catch (thrown) {
        if (saysNothingWasDone(thrown)) promises.undone.add(prompt);
        throw thrown;
      }
    },
  },
  "a person answers a request through the daemon": {
    weight: 2,
    async act(stage, random) {
      const task = await anyTask(stage, random, ({ phase }) => phase === "waiting");
      if (task) await stage.daemon.answer(task.id, random.chance(0.8) ? "once" : "reject");
    },
  },
  "a runner is asked to end": {
    weight: 1.5,
    async act({ machine, runners }, random) {
      if (runners.length === 0) return;
      const role = random.pick(runners);
      const { process } = role;
      const restartMs = random.delay(RESTART_MS);
      await role.end(random.whole(0, DRAIN_MS));
      if (process.isAlive) return;
      machine.lacks(role.name, restartMs);
      machine.timeline.schedule(restartMs, () => role.restart());
    },
  },
};

function saysNothingWasDone(thrown: unknown): boolean {
  if (!AsyncAgentsError.isInstance(thrown)) return false;
  return thrown.message.includes("Nothing was done") || UNDONE.has(thrown.code);
}
