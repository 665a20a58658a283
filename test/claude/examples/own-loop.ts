import { type Options, query } from "@anthropic-ai/claude-agent-sdk";
import { TaskManager } from "../../../src/claude/index.ts";

export async function follow(prompt: string, options: Options): Promise<TaskManager> {
  const messages = query({ prompt, options });
  const tasks = new TaskManager({ control: messages });
  try {
    for await (const message of messages) {
      const task = tasks.track(message);
      if (task?.status()) console.log(`${task.description}: ${task.status()}`);
    }
  } finally {
    tasks.processEnded("the query is over");
  }
  return tasks;
}
