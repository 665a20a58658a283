/**
 * What the hooks at the start and the end of a subagent are told. A stop that Claude did not tell is marked as made up:
 * Claude tells none when an agent is stopped, fails or runs out of turns.
 */
import { z } from "zod";

const base = {
  session_id: z.string(),
  transcript_path: z.string(),
  cwd: z.string(),
  agent_id: z.string(),
};

/** Told when a subagent starts. */
export const subagentStartSchema = z.looseObject({
  ...base,
  hook_event_name: z.literal("SubagentStart"),
  agent_type: z.string(),
});

/** Told when a subagent stops. */
export const subagentStopSchema = z.looseObject({
  ...base,
  hook_event_name: z.literal("SubagentStop"),
  /** True where a hook made the agent go on before. */
  stop_hook_active: z.boolean(),
  agent_transcript_path: z.string(),
  agent_type: z.string().optional(),
  last_assistant_message: z.string().optional(),
});

/** What a SubagentStart hook gets. */
export type SubagentStartInput = z.infer<typeof subagentStartSchema>;

/** What a SubagentStop hook gets. Where `made_up` is set, Claude fired no hook, and what the hook returns has no effect. */
export type SubagentStopInput = z.infer<typeof subagentStopSchema> & {
  made_up?: {
    /** How the task ended. */
    status: "completed" | "failed" | "stopped" | "lost";
    summary: string;
  };
};
