/**
 * Tasks for tests, with defaults for irrelevant fields. Also works outside the test runner.
 */
import type { NewTask, TaskEvent, TaskResumed } from "../model/events.ts";
import type { Task } from "../model/task.ts";
import type { Store } from "../store/store.ts";

export function newTask(id: string, fields: Partial<NewTask> = {}): NewTask {
  return {
    id,
    sessionId: id,
    host: "scripted",
    directory: "/repo",
    parentSessionId: "parent",
    parentMessageId: "message",
    parentAgent: "build",
    description: `Task ${id}`,
    prompt: `Do ${id}`,
    messageId: `prompt-${id}`,
    agent: "explore",
    model: null,
    batchId: "batch",
    isForked: false,
    wake: "each",
    owner: "instance",
    ...fields,
  };
}

export async function create(store: Store, id: string, fields: Partial<NewTask> = {}, at = 1_000): Promise<Task> {
  const outcome = await store.apply(id, { type: "task.created", at, task: newTask(id, fields) });
  if (!outcome.changed) throw new Error(`task ${id} was refused: ${outcome.reason}`);
  return outcome.task;
}

export function completed(at: number, run = 0, result = "done"): TaskEvent {
  return { type: "run.completed", at, run, result, progress: null };
}

export function resumed(at: number): TaskResumed {
  return { type: "task.resumed", at, prompt: "go on", messageId: "prompt-2", owner: "instance", allow: [] };
}
