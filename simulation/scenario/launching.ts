/** Launching and resuming in a simulated world: what was accepted is written down as a promise. */
import type { Engine } from "../../src/engine/engine.ts";
import type { Caller } from "../../src/engine/launch.ts";
import type { After } from "../../src/model/after.ts";
import type { Task, Wake } from "../../src/model/task.ts";
import type { Random } from "../time/random.ts";
import type { Stage } from "./stage.ts";

/** Something that people or parents do. */
export type Action = (stage: Stage, random: Random) => Promise<void>;

export async function launch(
  stage: Stage,
  engine: Engine,
  caller: Caller,
  { fork = false, wake = "each", after }: { fork?: boolean; wake?: Wake; after?: After } = {},
): Promise<void> {
  const { machine, promises } = stage;
  const request = {
    description: "work",
    prompt: `prompt ${machine.newId("p")}`,
    agent: "build",
    fork,
    batch: null,
    wake,
    ...(after && { after }),
  };
  const { id } = await engine.launch(caller, request, await engine.checkLaunch(caller, request));
  promises.accepted.push({ id, run: 0, prompt: request.prompt });
}

/** With a prompt of its own. */
export async function resume(stage: Stage, resuming: (prompt: string) => Promise<Task>): Promise<void> {
  const prompt = `prompt ${stage.machine.newId("p")}`;
  const { id, run } = await resuming(prompt);
  stage.promises.accepted.push({ id, run: run.number, prompt });
}

/** Whatever its last run came to. */
export function resumeAsPerson(stage: Stage, engine: Engine, task: Task): Promise<void> {
  return resume(stage, (prompt) => engine.resumeTask(task, { prompt, allow: ["error", "cancelled"] }));
}
