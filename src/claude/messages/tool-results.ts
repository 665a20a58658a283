/**
 * Finds a task's output file in the result of the tool call that launched it: long before the task ends, and the only
 * source if its end is never reported. Reads messages; keeps no state.
 */
import { z } from "zod";

/** The output file of a launched task, and the tool call that launched it. */
interface LaunchedOutput {
  toolUseId: string;
  taskId: string;
  outputFile: string;
}

const blockSchema = z.object({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional().catch(undefined) }))]),
});

const userSchema = z.object({
  type: z.literal("user"),
  message: z.object({ content: z.array(z.unknown()) }),
  tool_use_result: z.unknown().optional(),
});

const agentSchema = z.object({
  status: z.literal("async_launched"),
  agentId: z.string().min(1),
  outputFile: z.string().min(1),
});

/** Results of shells have no field for the path; it ends with the task's id. */
const SHELL = /with ID: (\w+)\.? Output is being written to: (.+?\/\1\.output)/;

/** Undefined for every other message. */
export function launchedOutput(message: unknown): LaunchedOutput | undefined {
  const parsed = userSchema.safeParse(message);
  if (!parsed.success) return undefined;
  for (const value of parsed.data.message.content) {
    const block = blockSchema.safeParse(value).data;
    if (!block) continue;
    const agent = agentSchema.safeParse(parsed.data.tool_use_result).data;
    if (agent) return { toolUseId: block.tool_use_id, taskId: agent.agentId, outputFile: agent.outputFile };
    const said =
      typeof block.content === "string" ? block.content : block.content.map(({ text }) => text ?? "").join("\n");
    const [, taskId, outputFile] = SHELL.exec(said) ?? [];
    if (taskId && outputFile) return { toolUseId: block.tool_use_id, taskId, outputFile };
  }
  return undefined;
}
