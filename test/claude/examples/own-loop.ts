import { type Options, query } from "@anthropic-ai/claude-agent-sdk";
import { TaskManager } from "../../../src/claude/index.ts";

export async function follow(prompt: string, options: Options): Promise<TaskManager> {
  const messages = query({ prompt, options });
  const tasks = new TaskManager({
    control: messages,
    onTaskNotification: ({ status }, task) => console.log(`${task.description}: ${status}`),
  });
  try {
    for await (const message of messages) tasks.track(message);
  } finally {
    tasks.processEnded("the query is over");
  }
  return tasks;
}
