import type { ClaudeSession, TaskOutcome } from "../../../src/claude/index.ts";

export async function keepTheFastest(claude: ClaudeSession): Promise<TaskOutcome> {
  const tasks = claude.tasks.list();
  const fastest = await Promise.race(tasks.map((task) => task.wait()));
  await Promise.all(tasks.map((task) => task.cancel()));
  return fastest;
}
