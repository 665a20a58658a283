/**
 * A bot: launches a task, waits until it has ended, and prints its result. Exits with 1 if the task failed.
 * Run it: bun examples/launch-and-wait.ts "hello" scripted      (or opencode, or claude; scripted needs no model)
 */
import { AsyncAgentsError, createClient } from "asyncagents/client";
import { findServer } from "./find-server.ts";

const [prompt = "hello", host = "scripted"] = process.argv.slice(2);
const client = createClient(findServer());

try {
  const { id } = await client.launch({ description: "from a bot", prompt, host, directory: process.cwd() });
  for await (const event of client.events()) {
    // A snapshot comes first: the task may have ended before the stream began.
    if (event.type !== "snapshot" && !("task" in event && event.task.id === id)) continue;
    const task = await client.task(id);
    if (task.phase === "waiting") console.error("The agent asks something; answer it on the dashboard.");
    if (task.phase !== null) continue;
    console.log(task.result ?? task.error);
    process.exit(task.status === "completed" ? 0 : 1);
  }
} catch (thrown) {
  if (!AsyncAgentsError.isInstance(thrown)) throw thrown;
  console.error(`${thrown.code}: ${thrown.message}`);
  process.exit(1);
}
