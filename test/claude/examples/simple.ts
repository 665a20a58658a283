import { type ClaudeOptions, openClaude } from "../../../src/claude/index.ts";

export async function review(options: ClaudeOptions = {}): Promise<void> {
  const claude = await openClaude({
    prompt: "Review the authentication module",
    agents: {
      reviewer: { description: "Reviews code", prompt: "You review code for quality.", tools: ["Read", "Grep"] },
    },
    ...options,
  });
  for await (const message of claude) {
    if (message.type === "result" && message.subtype === "success") console.log(message.result);
  }
}
