import { expect, test } from "bun:test";
import type { ClaimerContext } from "../../../src/engine/queue/claimer.ts";
import { say } from "../../../src/hosts/scripted/script.ts";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import type { Task } from "../../../src/model/task.ts";
import { ended, newWorld, type Side } from "../engine-bed.ts";
import { claimer, enqueue } from "./queue-bed.ts";

const unavailable = new AsyncAgentsError("store_unavailable", "the server restarts");

/** Each fails until it is over. */
const passing: Record<string, (side: Side, isOver: () => boolean) => Partial<ClaimerContext>> = {
  "the store cannot be read": (_side, isOver) => ({
    async folderOf({ task: { directory } }) {
      if (!isOver()) throw unavailable;
      return { directory, clone: null };
    },
  }),
  "its end cannot be stored": (side, isOver) => ({
    store: { ...side.store, write: (work) => (isOver() ? side.store.write(work) : Promise.reject(unavailable)) },
    async folderOf({ task: { directory } }) {
      if (!isOver()) throw new Error("there is no such folder");
      return { directory, clone: null };
    },
  }),
  "its owner is not registered": (side, isOver) => ({
    async open() {
      await (isOver() ? side.store.addInstance(side.engine.instance) : side.store.endInstance(side.id));
      return side.engine;
    },
  }),
};

for (const [reason, failing] of Object.entries(passing)) {
  test(`a task that cannot begin now (${reason}) waits again, and its runner looks again after a pause`, async () => {
    const world = newWorld();
    const side = await world.side();
    const tasks: Task[] = [];
    for (const name of ["one", "two", "three"]) tasks.push(await enqueue(world, side, world.script(say(name))));
    let isOver = false;
    const fields = failing(side, () => isOver);
    const tried: string[] = [];
    let looks = 0;
    const rested = Promise.withResolvers<void>();
    const offer = { id: "run_1", name: "here", hosts: ["scripted"], labels: [], machine: "", max: 1, limits: {} };
    const { folderOf = async ({ task }) => ({ directory: task.directory, clone: null }) } = fields;
    const runner = claimer(world, side, {
      ...fields,
      offer,
      pollMs: 1,
      folderOf(claimed) {
        tried.push(claimed.taskId);
        return folderOf(claimed);
      },
      // Several looks later: it could have claimed all of them by now.
      mayAct: () => {
        if (++looks > 20) rested.resolve();
        return true;
      },
    });
    await rested.promise;
    const waiting = await side.store.queue.waiting(tasks.map(({ id }) => id));
    expect([tried.length, ...waiting.map(({ isClaimed }) => isClaimed)]).toEqual([1, false, false, false]);
    isOver = true;
    world.pass(10_000);
    for (const task of tasks) expect((await ended(side, task)).status).toBe("completed");
    await runner.stop();
  });
}
