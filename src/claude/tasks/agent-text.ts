/**
 * The texts of an agent while it works, as forwarded by the session (the SDK's option `forwardSubagentText`). Reads
 * messages; keeps no state.
 */
import { z } from "zod";

/** A text and the agent that wrote it. */
interface AgentText {
  taskId: string;
  text: string;
}

const forwardedSchema = z.object({
  type: z.literal("assistant"),
  agent_id: z.string().min(1),
  message: z.object({ content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })) }),
});

/** Undefined if the message is not from an agent inside the session, or has no text. */
export function agentText(message: unknown): AgentText | undefined {
  const parsed = forwardedSchema.safeParse(message);
  if (!parsed.success) return undefined;
  const texts = parsed.data.message.content.flatMap(({ type, text }) => (type === "text" && text ? [text] : []));
  return texts.length > 0 ? { taskId: parsed.data.agent_id, text: texts.join("\n") } : undefined;
}
