/**
 * What an agent says while it works, as the session forwards it (the SDK's option `forwardSubagentText`). Reads messages; keeps
 * nothing.
 */
import { z } from "zod";

/** A text of an agent, and which agent. */
export interface AgentText {
  taskId: string;
  text: string;
}

const forwardedSchema = z.object({
  type: z.literal("assistant"),
  agent_id: z.string().min(1),
  message: z.object({ content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })) }),
});

/** Undefined where the message is not of an agent inside the session, or has no text. */
export function agentText(message: unknown): AgentText | undefined {
  const parsed = forwardedSchema.safeParse(message);
  if (!parsed.success) return undefined;
  const texts = parsed.data.message.content.flatMap(({ type, text }) => (type === "text" && text ? [text] : []));
  return texts.length > 0 ? { taskId: parsed.data.agent_id, text: texts.join("\n") } : undefined;
}
