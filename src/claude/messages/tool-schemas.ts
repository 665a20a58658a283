/**
 * The tools that Claude uses to start, read and stop tasks: their inputs and outputs, as zod schemas and types. They
 * have the fields of both the older Task tool and the current Agent tool; comments say which a current CLI ignores.
 */
import { z } from "zod";
import type { Closed } from "./closed.ts";

/** The models that the Agent tool accepts by name. */
export const TASK_MODELS = ["sonnet", "opus", "haiku", "fable"] as const;

/** How a session treats tools that need a permission. */
export const PERMISSION_MODES = ["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk", "auto"] as const;

/** The input of the Task tool, which newer versions call Agent. */
export const taskInputSchema = z.looseObject({
  description: z.string(),
  prompt: z.string(),
  /** Which agent; a current CLI defaults to general-purpose. */
  subagent_type: z.string().optional(),
  model: z.enum(TASK_MODELS).optional(),
  /** An agent to continue. A current CLI ignores it: `Task.resume` works differently. */
  resume: z.string().optional(),
  /** Defaults to true in a current CLI. */
  run_in_background: z.boolean().optional(),
  /** A current CLI ignores it: set `maxTurns` in the agent's definition. */
  max_turns: z.number().int().positive().optional(),
  name: z.string().optional(),
  /** A current CLI ignores it. */
  team_name: z.string().optional(),
  /** A current CLI ignores it: set `permissionMode` in the agent's definition. */
  mode: z.enum(PERMISSION_MODES).optional(),
  effort: z.enum(["low", "medium", "high", "xhigh", "max"]).optional(),
  isolation: z.enum(["worktree", "remote"]).optional(),
});

/** What the Task tool returns: the finished work, or a reference to a task in the background. */
export const taskOutputSchema = z.discriminatedUnion("status", [
  z.looseObject({
    status: z.literal("completed"),
    agentId: z.string(),
    agentType: z.string().optional(),
    prompt: z.string(),
    content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
    totalToolUseCount: z.number(),
    totalDurationMs: z.number(),
    totalTokens: z.number(),
  }),
  z.looseObject({
    status: z.literal("async_launched"),
    agentId: z.string(),
    description: z.string(),
    prompt: z.string(),
    outputFile: z.string(),
  }),
  z.looseObject({
    status: z.literal("remote_launched"),
    taskId: z.string(),
    sessionUrl: z.string(),
    description: z.string(),
    prompt: z.string(),
    outputFile: z.string(),
  }),
]);

/** The input of the TaskOutput tool. A current CLI no longer has it: use `Task.readOutput`. */
export const taskOutputInputSchema = z.looseObject({
  task_id: z.string(),
  /** Waits for the end of the task. */
  block: z.boolean(),
  /** The longest wait, in milliseconds. */
  timeout: z.number().min(0),
});

/** What the TaskOutput tool returned. */
export const taskOutputOutputSchema = z.looseObject({
  retrieval_status: z.enum(["success", "timeout", "not_ready"]),
  task: z
    .looseObject({ task_id: z.string(), task_type: z.string(), status: z.string(), output: z.string().optional() })
    .nullable(),
});

/** The input of the TaskStop tool. */
export const taskStopInputSchema = z.looseObject({
  task_id: z.string().optional(),
  /** The older name of task_id. */
  shell_id: z.string().optional(),
});

/** What the TaskStop tool returns. */
export const taskStopOutputSchema = z.looseObject({
  message: z.string(),
  task_id: z.string(),
  task_type: z.string(),
  command: z.string().optional(),
});

/** How a session treats tools that need a permission. */
export type PermissionMode = (typeof PERMISSION_MODES)[number];
/** The input of the Task (Agent) tool. */
export type TaskInput = Closed<z.infer<typeof taskInputSchema>>;
/** What the Task (Agent) tool returns. */
export type TaskOutput = Closed<z.infer<typeof taskOutputSchema>>;
/** The input of the TaskOutput tool. */
export type TaskOutputInput = Closed<z.infer<typeof taskOutputInputSchema>>;
/** What the TaskOutput tool returned. */
export type TaskOutputOutput = Closed<z.infer<typeof taskOutputOutputSchema>>;
/** The input of the TaskStop tool. */
export type TaskStopInput = Closed<z.infer<typeof taskStopInputSchema>>;
/** What the TaskStop tool returns. */
export type TaskStopOutput = Closed<z.infer<typeof taskStopOutputSchema>>;
