import { type ClaudeOptions, openClaude, type TaskOutcome } from "../../../src/claude/index.ts";

export async function analyze(prompt: string, options: ClaudeOptions = {}): Promise<TaskOutcome[]> {
  const claude = await openClaude({
    onTaskNotification: ({ status, summary }) => console.log(`${status}: ${summary}`),
    ...options,
  });
  try {
    await claude.send(prompt);
    const tasks = claude.tasks.list();
    const outcomes = await Promise.all(tasks.map((task) => task.wait({ timeout: 10 * 60_000 })));
    for (const task of tasks) console.log(task.description, await task.readOutput());
    return outcomes;
  } finally {
    await claude.close();
  }
}
