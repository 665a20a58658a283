/**
 * A process with a board that starts one attempt and is meant to be killed: `board-child.ts <folder> <input of
 * start_task_attempt> <queued prompts…>`. Prints its worktree once the attempt has started and its prompts are
 * queued. With KILL_AT_SESSION it kills itself after the task is launched and before its session is written.
 */
import { openSide } from "./board-side.ts";

const [folder = "", input = "", ...prompts] = process.argv.slice(2);
let ids = 0;
const newId = () => {
  if (++ids === 2 && process.env.KILL_AT_SESSION) process.kill(process.pid, "SIGKILL");
  return crypto.randomUUID();
};

const { board } = await openSide(folder, { newId });
await board.start();
const { attempt_id } = await board.call("start_task_attempt", JSON.parse(input));
for (const prompt of prompts) await board.call("follow_up", { attempt_id, action: "queue", prompt });
process.stdout.write((await board.call("get_attempt", { attempt_id })).repos[0]?.path ?? "");
setInterval(() => {}, 60_000);
