/**
 * The events that the TaskManager sends to its subscribers.
 */
import type { TaskUpdatedMessage, TaskUsage } from "../messages/message-schemas.ts";
import type { Task } from "./task.ts";
import type { TaskOutcome } from "./task-run.ts";

/** Something that happened to a task, or to a subscriber. */
export type TaskEvent =
  /** A task, or another run of it, has started. */
  | { type: "task.started"; task: Task; runId: string | undefined }
  | {
      type: "task.progress";
      task: Task;
      usage: TaskUsage | undefined;
      lastTool: string | undefined;
      summary: string | undefined;
    }
  | { type: "task.updated"; task: Task; patch: TaskUpdatedMessage["patch"] }
  /** An agent wrote a text. Only if the session was opened with `forwardSubagentText: true`. */
  | { type: "task.text"; task: Task; text: string }
  /** Once per run. */
  | { type: "task.ended"; task: Task; outcome: TaskOutcome }
  /** This reader was too slow: that many events before the next one are lost. list() shows the current state. */
  | { type: "events.dropped"; count: number }
  /** One of your handlers or hooks threw. This has no other effect. */
  | { type: "handler.failed"; handler: string; error: unknown }
  /** A message of the session could not be parsed; the stream of messages has it unchanged. */
  | { type: "message.rejected"; error: Error };
