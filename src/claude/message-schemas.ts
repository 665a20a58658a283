/**
 * The messages of a Claude session that are about tasks, as zod schemas, and the types inferred from them.
 * Only what is read here is demanded: newer fields pass through, and what older versions do not send is optional.
 * No behaviour: `parse-message.ts` chooses among these schemas.
 */
import { z } from "zod";

/** How Claude itself says that a task ended. */
export const NOTIFIED_STATUSES = ["completed", "failed", "stopped"] as const;

const system = <Subtype extends string>(subtype: Subtype) => ({
  type: z.literal("system"),
  subtype: z.literal(subtype),
  uuid: z.string(),
  session_id: z.string(),
});

const ofTask = {
  task_id: z.string().min(1),
  /** Names one run of a task; a resumed task keeps its id and gets a new one. They sort, as text, in the order of the runs. */
  run_id: z.string().optional(),
};

/** What a task has used so far. */
export const taskUsageSchema = z.looseObject({
  total_tokens: z.number(),
  tool_uses: z.number(),
  duration_ms: z.number(),
});

/** A task began: in the background, or in the foreground where `is_backgrounded` is false. */
export const taskStartedSchema = z.looseObject({
  ...system("task_started"),
  ...ofTask,
  tool_use_id: z.string().optional(),
  description: z.string(),
  subagent_type: z.string().optional(),
  is_backgrounded: z.boolean().optional(),
  spawn_depth: z.number().optional(),
  parent_task_id: z.string().optional(),
  task_type: z.string().optional(),
  workflow_name: z.string().optional(),
  prompt: z.string().optional(),
  ambient: z.boolean().optional(),
});

/** A sign of life. A task that retries a failing request sends none. */
export const taskProgressSchema = z.looseObject({
  ...system("task_progress"),
  ...ofTask,
  tool_use_id: z.string().optional(),
  description: z.string(),
  subagent_type: z.string().optional(),
  usage: taskUsageSchema,
  last_tool_name: z.string().optional(),
  summary: z.string().optional(),
});

/** Parts of a task's state that changed. */
export const taskUpdatedSchema = z.looseObject({
  ...system("task_updated"),
  ...ofTask,
  patch: z.looseObject({
    status: z.enum(["pending", "running", "completed", "failed", "killed", "paused"]).optional(),
    description: z.string().optional(),
    end_time: z.number().optional(),
    total_paused_ms: z.number().optional(),
    error: z.string().optional(),
    is_backgrounded: z.boolean().optional(),
  }),
});

/** A task ended. `summary` is its last text, its error, or (stopped) its description. */
export const taskNotificationSchema = z.looseObject({
  ...system("task_notification"),
  ...ofTask,
  tool_use_id: z.string().optional(),
  status: z.enum(NOTIFIED_STATUSES),
  reason: z.string().optional(),
  output_file: z.string(),
  summary: z.string(),
  usage: taskUsageSchema.optional(),
  ambient: z.boolean().optional(),
});

/** Every live background task of the process: it replaces what was said before. */
export const backgroundTasksChangedSchema = z.looseObject({
  ...system("background_tasks_changed"),
  tasks: z.array(
    z.looseObject({
      ...ofTask,
      task_type: z.string(),
      subagent_type: z.string().optional(),
      description: z.string(),
      parent_task_id: z.string().optional(),
      ambient: z.boolean().optional(),
    }),
  ),
});

/** Whether a turn is being worked on. Sent where CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS is set; `openClaude` sets it. */
export const sessionStateChangedSchema = z.looseObject({
  ...system("session_state_changed"),
  state: z.enum(["idle", "running", "requires_action"]),
});

/** What the session has: sent at the start of each turn. */
export const initSchema = z.looseObject({
  ...system("init"),
  cwd: z.string(),
  tools: z.array(z.string()).optional(),
  model: z.string(),
  permissionMode: z.string(),
  agents: z.array(z.string()).optional(),
  claude_code_version: z.string().optional(),
});

/** The conversation was condensed here. */
export const compactBoundarySchema = z.looseObject({
  ...system("compact_boundary"),
  compact_metadata: z.looseObject({ trigger: z.enum(["manual", "auto"]), pre_tokens: z.number() }),
});

/** A turn ended, not the session: background tasks go on, and each that ends may cause another turn. */
export const resultSchema = z.looseObject({
  type: z.literal("result"),
  subtype: z.string(),
  is_error: z.boolean(),
  num_turns: z.number(),
  duration_ms: z.number(),
  total_cost_usd: z.number(),
  uuid: z.string(),
  session_id: z.string(),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
  /** What caused the turn; `task-notification` where a task's end did, then with its `runId`. */
  origin: z.looseObject({ kind: z.string(), runId: z.string().optional() }).optional(),
  user_message_uuids: z.array(z.string()).optional(),
  user_message_uuid: z.string().optional(),
  queued_turn_count: z.number().optional(),
});

/** Anything else: passed through as it came. */
export const otherMessageSchema = z.looseObject({ type: z.string(), subtype: z.string().optional() });

/** The schema of each `system` message that is read here, by its subtype. */
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

/** How Claude itself says that a task ended. */
export type NotifiedStatus = (typeof NOTIFIED_STATUSES)[number];
/** What a task has used so far. */
export type TaskUsage = z.infer<typeof taskUsageSchema>;
/** What the session has. */
export type InitMessage = z.infer<typeof initSchema>;
/** The conversation was condensed here. */
export type CompactBoundaryMessage = z.infer<typeof compactBoundarySchema>;
/** A task began. */
export type TaskStartedMessage = z.infer<typeof taskStartedSchema>;
/** A sign of life of a task. */
export type TaskProgressMessage = z.infer<typeof taskProgressSchema>;
/** Parts of a task's state that changed. */
export type TaskUpdatedMessage = z.infer<typeof taskUpdatedSchema>;
/** A task ended. */
export type TaskNotificationMessage = z.infer<typeof taskNotificationSchema>;
/** Every live background task. */
export type BackgroundTasksChangedMessage = z.infer<typeof backgroundTasksChangedSchema>;
/** Whether a turn is being worked on. */
export type SessionStateChangedMessage = z.infer<typeof sessionStateChangedSchema>;
/** A turn ended. */
export type ResultMessage = z.infer<typeof resultSchema>;
/** A message that has no schema here. */
export type OtherMessage = z.infer<typeof otherMessageSchema>;

/** The messages with a schema, by the name that `isMessage` takes. */
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

/** What `parseMessage` gives. Narrow it with `isMessage`. */
export type ClaudeMessage = KnownMessages[keyof KnownMessages] | OtherMessage;
