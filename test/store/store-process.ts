/**
 * A separate process for tests: `bun store-process.ts <work> <folder> <name>`. Prints what a test waits for. Exits when
 * its work is done, or is killed by the test.
 */
import { noProgress } from "../../src/model/progress.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { create, newTask } from "../../src/testing/sample-task.ts";

export type Work = "write" | "mirror" | "hold" | "die";

const [work, directory = "", name = ""] = process.argv.slice(2);
const MIRRORED = 300;

/** Half of the writes create tasks of its own, half add to the task that all share. */
async function write(store: Store): Promise<void> {
  for (let index = 0; index < 125; index++) {
    await create(store, `${name}-${index}`);
    await store.write(async (transaction) => {
      const progress = (await transaction.task("shared"))?.progress ?? noProgress(0);
      const next = { ...progress, toolCalls: progress.toolCalls + 1 };
      await transaction.apply("shared", { type: "run.progressed", at: index, run: 0, progress: next });
    });
  }
}

/** Writes the mirror repeatedly; all tasks in it carry the number of the round. */
async function mirror(first: Store): Promise<never> {
  let store = first;
  const progress = (toolCalls: number) => ({ ...noProgress(0), toolCalls });
  const before = (await store.task(`${name}-0`))?.progress.toolCalls ?? -1;
  for (let round = before + 1; ; round++) {
    await store.write(async (transaction) => {
      for (let index = 0; index < MIRRORED; index++) {
        const id = `${name}-${index}`;
        if (round === 0) await transaction.apply(id, { type: "task.created", at: index, task: newTask(id) });
        await transaction.apply(id, { type: "run.progressed", at: 0, run: 0, progress: progress(round) });
      }
    });
    // Closing writes what is pending, at once.
    await store.close();
    console.log(round);
    store = await sqliteStore({ directory });
  }
}

async function hold(): Promise<never> {
  console.log("open");
  return new Promise(() => {});
}

/** Ends like a killed process, right after a commit. */
async function die(store: Store): Promise<void> {
  await create(store, name);
  process.kill(process.pid, "SIGKILL");
}

// The test's process holds the other end: when that is gone, so is this one.
process.stdin.on("end", () => process.exit(1)).resume();

const store = await sqliteStore({ directory });
if (work === "write") await write(store);
if (work === "mirror") await mirror(store);
if (work === "hold") await hold();
if (work === "die") await die(store);
await store.close();
process.exit(0);
