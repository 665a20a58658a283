/**
 * Commits to a store from outside, cheaply enough to precede every request: a feed entry and a new time in the newest
 * task's row, in one transaction, like the retrieval of a result.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { storedTask } from "./stored-tasks.ts";

export function foreignWrites(directory: string): { write(): void; close(): void } {
  const { id } = storedTask(0);
  const database = new Database(join(directory, "asyncagents.db"), { readwrite: true });
  database.run("pragma synchronous = normal");
  database.run("pragma busy_timeout = 5000");
  const told = database.prepare("insert into events (task_id, type, event) values (?, 'result.retrieved', ?)");
  const changed = database.prepare("update tasks set result_retrieved_at = ? where id = ?");
  let at = Date.now();
  const write = database.transaction(() => {
    at++;
    told.run(id, `{"type":"result.retrieved","at":${at}}`);
    changed.run(at, id);
  });
  return { write: () => write.immediate(), close: () => database.close() };
}
