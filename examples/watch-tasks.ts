/**
 * Prints every change of every task on this machine, whichever process runs it. Ctrl-C ends it.
 * Run it: bun examples/watch-tasks.ts
 */
import { createClient } from "asyncagents/client";
import { findServer } from "./find-server.ts";

const client = createClient(findServer());

for await (const event of client.events()) {
  switch (event.type) {
    case "snapshot":
      console.log(`${event.snapshot.total} tasks, ${event.snapshot.stats.activeTasks} of them active`);
      break;
    case "reconnecting":
      console.log(`no connection (${event.reason}); trying again in ${event.waitMs} ms`);
      break;
    case "heartbeat":
    case "board.changed":
      break;
    default: {
      const { id, description, status, phase } = event.task;
      console.log(`${id}  ${status}${phase ? ` (${phase})` : ""}  ${description}`);
    }
  }
}
