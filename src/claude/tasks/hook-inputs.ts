/**
 * The inputs of the hooks at the start and end of a subagent. A stop that Claude did not report is marked `made_up`:
 * Claude reports none when an agent is stopped, fails or runs out of turns.
 */
import { z } from "zod";
import type { Closed } from "../messages/closed.ts";

/** Empty if it is missing or not a string: only the id is needed here. */
const text = z.string().catch("");

const base = {
  session_id: text,
  transcript_path: text,
  cwd: text,
  agent_id: z.string().min(1),
};

/** Sent when a subagent starts. */
export const subagentStartSchema = z.looseObject({
  ...base,
  hook_event_name: z.literal("SubagentStart"),
  agent_type: text,
});

/** Sent when a subagent stops. */
export const subagentStopSchema = z.looseObject({
  ...base,
  hook_event_name: z.literal("SubagentStop"),
  /** True if a hook made the agent continue before. */
  stop_hook_active: z.boolean().catch(false),
  agent_transcript_path: text,
  agent_type: z.string().optional().catch(undefined),
  last_assistant_message: z.string().optional().catch(undefined),
});

/** The input of a SubagentStart hook. */
export type SubagentStartInput = Closed<z.infer<typeof subagentStartSchema>>;

/** The input of a SubagentStop hook. If `made_up` is set, Claude fired no hook, and the return value has no effect. */
export type SubagentStopInput = Closed<z.infer<typeof subagentStopSchema>> & {
  made_up?: {
    /** How the task ended. */
    status: "completed" | "failed" | "stopped" | "lost";
    summary: string;
  };
};
