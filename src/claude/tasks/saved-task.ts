/**
 * A task in a form that can be stored: plain JSON, for opening the session again in another process. Claude stores an
 * agent's conversation, but not how its runs ended. The caller decides where to store it.
 */
import { z } from "zod";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Closed } from "../messages/closed.ts";
import { NOTIFIED_STATUSES, taskUsageSchema } from "../messages/message-schemas.ts";

const outcomeSchema = z.object({
  taskId: z.string(),
  runId: z.string().optional(),
  status: z.enum([...NOTIFIED_STATUSES, "lost"]),
  summary: z.string(),
  usage: taskUsageSchema.optional(),
  outputFile: z.string().optional(),
  reason: z.string().optional(),
});

/** One task: a result of `TaskManager.save`, for the option `saved`. */
export const savedTaskSchema = z.object({
  id: z.string().min(1),
  runId: z.string().optional(),
  sessionId: z.string().optional(),
  description: z.string(),
  prompt: z.string().optional(),
  agentType: z.string().optional(),
  taskType: z.string().optional(),
  toolUseId: z.string().optional(),
  parentId: z.string().optional(),
  isBackground: z.boolean(),
  outputFile: z.string().optional(),
  /** Absent if it had not ended. */
  outcome: outcomeSchema.optional(),
});

/** One task in a form that can be stored. */
export type SavedTask = Closed<z.infer<typeof savedTaskSchema>>;

/** Throws if the stored value is not a result of `save`. */
export function checkSaved(saved: readonly SavedTask[]): SavedTask[] {
  const parsed = z.array(savedTaskSchema).safeParse(saved);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const message = `The saved tasks cannot be read: ${issue?.path.join(".")}: ${issue?.message}. Pass a result of save().`;
  throw new AsyncAgentsError("invalid_input", message);
}
