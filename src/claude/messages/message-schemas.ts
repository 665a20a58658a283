/**
 * The messages of a Claude session that concern tasks, as zod schemas, and the types inferred from them. Only fields
 * that decide something are required (which task, how it ended). Others may be missing or differ between versions: then
 * they are absent here, and the message still counts. No behaviour: `parse-message.ts` chooses among these schemas.
 */
import { z } from "zod";
import type { Closed } from "./closed.ts";

/** How Claude reports the end of a task. */
export const NOTIFIED_STATUSES = ["completed", "failed", "stopped"] as const;

/** Absent if it is missing or has an unknown form. */
const told = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

/** Empty if it is missing or not a string. */
const text = z.string().catch("");

const system = <Subtype extends string>(subtype: Subtype) => ({
  type: z.literal("system"),
  subtype: z.literal(subtype),
  uuid: text,
  session_id: text,
});

const ofTask = {
  task_id: z.string().min(1),
  /**
   * Identifies one run of a task; a resumed task keeps its id and gets a new run id. Run ids sort as text in order of
   * the runs.
   */
  run_id: told(z.string()),
};

/** What a task has used so far. */
export const taskUsageSchema = z.looseObject({
  total_tokens: z.number(),
  tool_uses: z.number(),
  duration_ms: z.number(),
});

/** A task started: in the background, or in the foreground if `is_backgrounded` is false. */
export const taskStartedSchema = z.looseObject({
  ...system("task_started"),
  ...ofTask,
  tool_use_id: told(z.string()),
  description: text,
  subagent_type: told(z.string()),
  is_backgrounded: told(z.boolean()),
  spawn_depth: told(z.number()),
  parent_task_id: told(z.string()),
  task_type: told(z.string()),
  workflow_name: told(z.string()),
  prompt: told(z.string()),
  ambient: told(z.boolean()),
});

/** Reports activity. A task that retries a failing request sends none. */
export const taskProgressSchema = z.looseObject({
  ...system("task_progress"),
  ...ofTask,
  tool_use_id: told(z.string()),
  description: text,
  subagent_type: told(z.string()),
  usage: told(taskUsageSchema),
  last_tool_name: told(z.string()),
  summary: told(z.string()),
});

/** The parts of a task's state that changed. */
export const taskUpdatedSchema = z.looseObject({
  ...system("task_updated"),
  ...ofTask,
  patch: z.looseObject({
    status: told(z.enum(["pending", "running", "completed", "failed", "killed", "paused"])),
    description: told(z.string()),
    end_time: told(z.number()),
    total_paused_ms: told(z.number()),
    error: told(z.string()),
    is_backgrounded: told(z.boolean()),
  }),
});

/** A task ended. `summary` is its last text, its error, or (if stopped) its description. */
export const taskNotificationSchema = z.looseObject({
  ...system("task_notification"),
  ...ofTask,
  tool_use_id: told(z.string()),
  status: z.enum(NOTIFIED_STATUSES),
  reason: told(z.string()),
  output_file: text,
  summary: text,
  usage: told(taskUsageSchema),
  ambient: told(z.boolean()),
});

/** Every live background task of the process: replaces the earlier list. */
export const backgroundTasksChangedSchema = z.looseObject({
  ...system("background_tasks_changed"),
  tasks: z.array(
    z.looseObject({
      ...ofTask,
      task_type: told(z.string()),
      subagent_type: told(z.string()),
      description: told(z.string()),
      parent_task_id: told(z.string()),
      ambient: told(z.boolean()),
    }),
  ),
});

/**
 * Whether Claude is working on a turn. Sent only if CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS is set; `openClaude` sets it.
 * The state is absent if its value is unknown.
 */
export const sessionStateChangedSchema = z.looseObject({
  ...system("session_state_changed"),
  state: told(z.enum(["idle", "running", "requires_action"])),
});

/** The session's model, tools and agents: sent at the start of each turn. */
export const initSchema = z.looseObject({
  ...system("init"),
  cwd: text,
  tools: told(z.array(z.string())),
  model: text,
  permissionMode: text,
  agents: told(z.array(z.string())),
  claude_code_version: told(z.string()),
});

/** The conversation was compacted here. */
export const compactBoundarySchema = z.looseObject({
  ...system("compact_boundary"),
  compact_metadata: told(z.looseObject({ trigger: told(z.enum(["manual", "auto"])), pre_tokens: told(z.number()) })),
});

/** A turn ended, not the session: background tasks continue, and each that ends may cause another turn. */
export const resultSchema = z.looseObject({
  type: z.literal("result"),
  subtype: text,
  is_error: told(z.boolean()),
  num_turns: told(z.number()),
  duration_ms: told(z.number()),
  /** The cost of the session so far, including its tasks. */
  total_cost_usd: told(z.number()),
  uuid: text,
  session_id: text,
  result: told(z.string()),
  errors: told(z.array(z.string())),
  /** The model's JSON, if the option `outputFormat` requests it: `structuredOutput` gives it a type. */
  structured_output: z.unknown().optional(),
  /** What caused the turn; `task-notification` if a task's end did, with its `runId`. */
  origin: told(z.looseObject({ kind: z.string(), runId: told(z.string()) })),
  user_message_uuids: told(z.array(z.string())),
  user_message_uuid: told(z.string()),
  queued_turn_count: told(z.number()),
});

/** Anything else, passed through unchanged. */
export const otherMessageSchema = z.looseObject({
  type: z.string(),
  subtype: told(z.string()),
  uuid: told(z.string()),
  session_id: told(z.string()),
});

/** The schemas of the `system` messages that are parsed here, by subtype. */
export const systemSchemas = {
  init: initSchema,
  compact_boundary: compactBoundarySchema,
  task_started: taskStartedSchema,
  task_progress: taskProgressSchema,
  task_updated: taskUpdatedSchema,
  task_notification: taskNotificationSchema,
  background_tasks_changed: backgroundTasksChangedSchema,
  session_state_changed: sessionStateChangedSchema,
};

/** How Claude reports the end of a task. */
export type NotifiedStatus = (typeof NOTIFIED_STATUSES)[number];
/** What a task has used so far. */
export type TaskUsage = Closed<z.infer<typeof taskUsageSchema>>;
/** The session's model, tools and agents. */
export type InitMessage = Closed<z.infer<typeof initSchema>>;
/** The conversation was compacted here. */
export type CompactBoundaryMessage = Closed<z.infer<typeof compactBoundarySchema>>;
/** A task started. */
export type TaskStartedMessage = Closed<z.infer<typeof taskStartedSchema>>;
/** Activity of a task. */
export type TaskProgressMessage = Closed<z.infer<typeof taskProgressSchema>>;
/** The parts of a task's state that changed. */
export type TaskUpdatedMessage = Closed<z.infer<typeof taskUpdatedSchema>>;
/** A task ended. */
export type TaskNotificationMessage = Closed<z.infer<typeof taskNotificationSchema>>;
/** Every live background task. */
export type BackgroundTasksChangedMessage = Closed<z.infer<typeof backgroundTasksChangedSchema>>;
/** Whether Claude is working on a turn. */
export type SessionStateChangedMessage = Closed<z.infer<typeof sessionStateChangedSchema>>;
/** A turn ended. */
export type ResultMessage = Closed<z.infer<typeof resultSchema>>;
/** A message that has no schema here. */
export type OtherMessage = Closed<z.infer<typeof otherMessageSchema>>;

/** The messages with a schema, by their name for `isMessage`. */
export interface KnownMessages {
  init: InitMessage;
  compact_boundary: CompactBoundaryMessage;
  task_started: TaskStartedMessage;
  task_progress: TaskProgressMessage;
  task_updated: TaskUpdatedMessage;
  task_notification: TaskNotificationMessage;
  background_tasks_changed: BackgroundTasksChangedMessage;
  session_state_changed: SessionStateChangedMessage;
  result: ResultMessage;
}

/** The result of `parseMessage`. Narrow it with `isMessage`. */
export type ClaudeMessage = KnownMessages[keyof KnownMessages] | OtherMessage;
