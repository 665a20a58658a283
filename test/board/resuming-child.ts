/**
 * Another process in which a person resumes one task whenever it is idle: `resuming-child.ts <folder> <task>`. Prints
 * a line when it starts, and exits on SIGTERM between two runs.
 */

import { isLive } from "../../src/model/task.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { openSide } from "./board-side.ts";

const [folder = "", taskId = ""] = process.argv.slice(2);
const side = await openSide(folder);
let isOver = false;
process.once("SIGTERM", () => {
  isOver = true;
});
process.stdout.write("ready\n");
while (!isOver) {
  const task = await eventually(side.store, async () => {
    const now = await side.store.task(taskId);
    return isOver || (now !== null && !isLive(now.status)) ? now : null;
  });
  if (isOver || task === null) break;
  const engine = await side.runner.open(task.host, task.directory);
  // Someone else was often faster.
  await engine.resumeTask(task, { prompt: "!say person", allow: ["error", "cancelled"] }).catch(() => {});
}
await side.close();
process.exit(0);
