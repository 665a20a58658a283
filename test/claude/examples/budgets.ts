import { type ClaudeOptions, openClaude } from "../../../src/claude/index.ts";

export async function withinBudget(tokens: number, options: ClaudeOptions = {}): Promise<string[]> {
  const claude = await openClaude({
    prompt: "Look for slow queries, with several agents",
    maxBudgetUsd: 2,
    agents: { looker: { description: "Looks for slow queries", prompt: "You look.", model: "haiku", maxTurns: 20 } },
    ...options,
  });
  const tooDear: string[] = [];
  for await (const event of claude.tasks.events()) {
    if (event.type !== "task.progress" || (event.usage?.total_tokens ?? 0) <= tokens) continue;
    tooDear.push(event.task.description);
    await event.task.cancel();
  }
  return tooDear;
}
