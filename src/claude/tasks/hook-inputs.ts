/**
 * What the hooks at the start and the end of a subagent are told. A stop that Claude did not tell is marked as made up:
 * Claude tells none when an agent is stopped, fails or runs out of turns.
 */
import { z } from "zod";
import type { Closed } from "../messages/closed.ts";

/** Empty where it is missing or no text: only the id is needed here. */
const text = z.string().catch("");

const base = {
  session_id: text,
  transcript_path: text,
  cwd: text,
  agent_id: z.string().min(1),
};

/** Told when a subagent starts. */
export const subagentStartSchema = z.looseObject({
  ...base,
  hook_event_name: z.literal("SubagentStart"),
  agent_type: text,
});

/** Told when a subagent stops. */
export const subagentStopSchema = z.looseObject({
  ...base,
  hook_event_name: z.literal("SubagentStop"),
  /** True where a hook made the agent go on before. */
  stop_hook_active: z.boolean().catch(false),
  agent_transcript_path: text,
  agent_type: z.string().optional().catch(undefined),
  last_assistant_message: z.string().optional().catch(undefined),
});

/** What a SubagentStart hook gets. */
export type SubagentStartInput = Closed<z.infer<typeof subagentStartSchema>>;

/** What a SubagentStop hook gets. Where `made_up` is set, Claude fired no hook, and what the hook returns has no effect. */
export type SubagentStopInput = Closed<z.infer<typeof subagentStopSchema>> & {
  made_up?: {
    /** How the task ended. */
    status: "completed" | "failed" | "stopped" | "lost";
    summary: string;
  };
};
