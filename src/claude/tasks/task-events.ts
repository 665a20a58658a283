/** What the tracker tells its subscribers. */
import type { TaskUpdatedMessage, TaskUsage } from "../messages/message-schemas.ts";
import type { Task } from "./task.ts";
import type { TaskOutcome } from "./task-run.ts";

/** One thing that happened to a task, or to those who watch. */
export type TaskEvent =
  /** A task, or another run of it, has begun. */
  | { type: "task.started"; task: Task; runId: string | undefined }
  | {
      type: "task.progress";
      task: Task;
      usage: TaskUsage | undefined;
      lastTool: string | undefined;
      summary: string | undefined;
    }
  | { type: "task.updated"; task: Task; patch: TaskUpdatedMessage["patch"] }
  /** An agent said something. Only where the session was opened with `forwardSubagentText: true`. */
  | { type: "task.text"; task: Task; text: string }
  /** Once for each run. */
  | { type: "task.ended"; task: Task; outcome: TaskOutcome }
  /** This reader was too slow: so many events before the next one are lost. list() shows the present state. */
  | { type: "events.dropped"; count: number }
  /** A handler or a hook of yours threw. Nothing else came of it. */
  | { type: "handler.failed"; handler: string; error: unknown }
  /** A message of the session could not be read; it is in the stream of messages as it came. */
  | { type: "message.rejected"; error: Error };
