/** What people do with attempts: start one, and give its session more to do. */
import { type Action, resumeAsPerson } from "./launching.ts";
import { PROJECT, parentEngine, type Stage } from "./stage.ts";

/** How quick a person is when another one has just done something. */
const HASTE_MS = 100;

async function queue({ machine, daemon, promises }: Stage, attempt: string): Promise<void> {
  const prompt = `follow-up ${machine.newId("p")}`;
  const queueing = { attempt, prompt, from: machine.timeline.now, until: Number.POSITIVE_INFINITY };
  promises.queueing.push(queueing);
  await daemon.followUp(attempt, "queue", prompt).finally(() => {
    queueing.until = machine.timeline.now;
  });
  promises.queued.set(prompt, attempt);
}

export const BOARD_ACTIONS: Record<string, { weight: number; act: Action }> = {
  "a person starts an attempt": {
    weight: 2,
    async act({ machine, daemon, truth, attempts, promises }) {
      const [item, id] = [machine.newUuid(), machine.newUuid()];
      const at = { createdAt: 1, updatedAt: 1 };
      const work = { id: item, projectId: PROJECT, title: "work", description: null, status: "todo", ...at } as const;
      await truth.board.addWorkItem(work);
      const plain = {
        host: "opencode",
        variant: null,
        branch: id,
        error: null,
        folder: "/simulated",
        machine: "",
        ...at,
      };
      await truth.board.addAttempt({ id, workItemId: item, state: "starting", ...plain }, []);
      const prompt = `prompt ${machine.newId("p")}`;
      const task = await daemon.startAttempt(id, prompt);
      promises.accepted.push({ id: task.id, run: 0, prompt });
      attempts.push(id);
    },
  },
  "a person queues a follow-up": {
    weight: 5,
    async act(stage, random) {
      if (stage.attempts.length > 0) await queue(stage, random.pick(stage.attempts));
    },
  },
  "a person queues a follow-up while another resumes the task": {
    weight: 2,
    async act(stage, random) {
      const { machine, truth, attempts } = stage;
      if (attempts.length === 0) return;
      const attempt = random.pick(attempts);
      const taskId = (await truth.board.attempt(attempt))?.latestSession?.taskId ?? "";
      const tryTo = async () => {
        const task = await truth.task(taskId);
        const engine = parentEngine(stage, random);
        if (engine && task) await resumeAsPerson(stage, engine, task);
      };
      machine.timeline.schedule(random.whole(0, HASTE_MS), () =>
        machine.forget("a person", "resumes at once", tryTo()),
      );
      await queue(stage, attempt);
    },
  },
  "a person sends a follow-up": {
    weight: 1,
    async act({ machine, daemon, attempts, promises }, random) {
      if (attempts.length === 0) return;
      const prompt = `follow-up ${machine.newId("p")}`;
      await daemon.followUp(random.pick(attempts), "send", prompt);
      promises.sent.add(prompt);
    },
  },
  "a person empties a queue": {
    weight: 0.3,
    async act({ daemon, attempts, promises }, random) {
      if (attempts.length === 0) return;
      const attempt = random.pick(attempts);
      promises.emptied.add(attempt);
      await daemon.followUp(attempt, "cancel", "");
    },
  },
};
