import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Task } from "../../../src/claude/tasks/task.ts";
import type { TaskOutcome } from "../../../src/claude/tasks/task-run.ts";
import { call, calls, fail, gate, pause, say } from "../../../src/testing/models/script.ts";
import { agentInput, type ClaudeBed, claudeBed, closeBeds, follow } from "../claude-bed.ts";

/** For a long run: `ASYNCAGENTS_CLAUDE_ROUNDS=20 npm test -- claude/many`. */
const ROUNDS = Number(process.env.ASYNCAGENTS_CLAUDE_ROUNDS ?? 4);
const AGENTS = 10;
const SLOWEST_MS = 600;
const FAILING = 3;
const CANCELLED = 6;
const RESUMED = 8;

setDefaultTimeout(60_000);
afterEach(closeBeds);

/** Seeded random numbers from 0 to 1. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function scriptAgents({ model }: ClaudeBed, round: number, random: () => number): void {
  const names = Array.from({ length: AGENTS }, (_, i) => `${round}-${i}`);
  model.script(`${round}-main`, [
    calls(names.map((name) => ({ name: "Agent", input: agentInput(name) }))),
    say("begun"),
    ...Array.from({ length: AGENTS }, () => say("noted")),
  ]);
  for (const [i, name] of names.entries()) {
    const ends = i === FAILING ? fail(400, "refused") : say(`${name} is done`);
    const holds = i === CANCELLED ? gate(`${round}-never`) : pause(random() * SLOWEST_MS);
    const works = random() < 0.5 ? [call("Bash", { command: "true", description: "x" })] : [];
    model.script(name, [...works, holds, ends]);
  }
  model.script(`${round}-more`, [pause(random() * SLOWEST_MS), say("more is done")]);
}

/** Cancels one at a random moment, continues another when it has ended, and waits for all. */
async function work(bed: ClaudeBed, round: number, tasks: readonly Task[], random: () => number): Promise<void> {
  const cancel = async () => {
    await Bun.sleep(random() * SLOWEST_MS);
    const outcome = await tasks[CANCELLED]?.cancel();
    expect(outcome?.status).toBe("stopped");
  };
  const resume = async () => {
    const task = tasks[RESUMED];
    const first = await task?.wait();
    expect(first?.summary).toBe(`${round}-${RESUMED} is done`);
    bed.model.script(`${round}-again`, [
      call("SendMessage", { to: task?.id, message: follow(`${round}-more`) }),
      ...Array.from({ length: AGENTS + 2 }, () => say("noted")),
    ]);
    await task?.resume(follow(`${round}-again`));
    expect(await task?.wait()).toMatchObject({ taskId: task?.id, status: "completed", summary: "more is done" });
    expect(task?.runId).not.toBe(first?.runId);
  };
  await Promise.all([cancel(), resume(), ...tasks.map((task) => task.wait())]);
}

test.each(Array.from({ length: ROUNDS }, (_, i) => i + 1))(
  "ten concurrent agents, one failing, one cancelled, one continued: each outcome is right and reported once (round %d)",
  async (round) => {
    const bed = await claudeBed();
    const random = randomFrom(round);
    const told: TaskOutcome[] = [];
    scriptAgents(bed, round, random);
    const claude = await bed.open({ onTaskNotification: (outcome) => told.push(outcome) });
    await claude.send(follow(`${round}-main`));
    const tasks = claude.tasks.list();
    expect(tasks).toHaveLength(AGENTS);
    await work(bed, round, tasks, random);

    const expected = tasks.map((_, i) => (i === FAILING ? "failed" : i === CANCELLED ? "stopped" : "completed"));
    expect(tasks.map((task) => task.status())).toEqual(expected);
    const summaries = tasks.map((task, i) => (expected[i] === "completed" ? task.summary() : ""));
    expect(summaries).toEqual(
      expected.map((status, i) =>
        i === RESUMED ? "more is done" : status === "completed" ? `${round}-${i} is done` : "",
      ),
    );
    await claude.close({ wait: 10_000 });
    expect(told).toHaveLength(AGENTS + 1);
    expect(new Set(told.map(({ runId }) => runId)).size).toBe(AGENTS + 1);
  },
);
