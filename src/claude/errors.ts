/**
 * The errors of the Claude task library. Each is an AsyncAgentsError with a code of the shared table, and has its own
 * class, so that `instanceof` can tell them apart. The messages say what to do next.
 */
import { AsyncAgentsError } from "../model/errors.ts";

/** A message does not have the declared form of its type. */
export class MessageParseError extends AsyncAgentsError {
  /** The path of the first wrong field, such as `patch.status`; empty if the value is not an object. */
  readonly field: string;

  constructor(kind: string, field: string, problem: string) {
    const where = field === "" ? "the message itself" : `the field ${field}`;
    super("message_malformed", `The ${kind} message of Claude cannot be parsed: ${where} is wrong (${problem}).`, {
      details: { kind, field, problem },
    });
    this.name = "MessageParseError";
    this.field = field;
  }
}

/** No task with this id is known, or it ended so long ago that it was forgotten. */
export class TaskNotFoundError extends AsyncAgentsError {
  readonly taskId: string;

  constructor(taskId: string) {
    super("task_not_found", `There is no task ${JSON.stringify(taskId)}. list() shows the known tasks.`, {
      details: { taskId },
    });
    this.name = "TaskNotFoundError";
    this.taskId = taskId;
  }
}

/** A wait timed out. The task continues. */
export class TaskTimeoutError extends AsyncAgentsError {
  readonly taskId: string;
  /** In milliseconds. */
  readonly timeout: number;

  constructor(taskId: string, timeout: number, what = "has not ended") {
    super("task_timeout", `Task ${taskId} ${what} after ${timeout} ms. It continues: wait again, or cancel() it.`, {
      details: { taskId, timeout },
    });
    this.name = "TaskTimeoutError";
    this.taskId = taskId;
    this.timeout = timeout;
  }
}

/** Claude's process did not respond in time: it is frozen, or the machine is very busy. */
export class ClaudeTimeoutError extends AsyncAgentsError {
  /** In milliseconds. */
  readonly timeout: number;

  constructor(what: string, timeout: number, next: string) {
    super("host_unavailable", `${what} after ${timeout} ms. ${next}`, { details: { timeout } });
    this.name = "ClaudeTimeoutError";
    this.timeout = timeout;
  }
}

/** The output of a task cannot be read. */
export class TaskOutputError extends AsyncAgentsError {
  readonly taskId: string;

  constructor(taskId: string, message: string, cause?: unknown) {
    super("output_missing", message, { details: { taskId }, cause });
    this.name = "TaskOutputError";
    this.taskId = taskId;
  }
}
