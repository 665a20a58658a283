/**
 * Tasks without a project, launched in a folder: their operations. Such a task is identified by its handle: its task
 * id, which is a UUID on some hosts only. No behaviour.
 */
import { z } from "zod";
import { IF_FAILED, MOST_PREDECESSORS } from "../../model/after.ts";
import { STEERING_STATES } from "../../model/steering.ts";
import {
  asked,
  executor,
  PROMPT_CHARS,
  queueChoices,
  requestId,
  runChoices,
  TITLE_CHARS,
  text,
  uuid,
  variant,
  waitMs,
} from "../fields.ts";
import { boardOperation } from "../operation.ts";

const handle = (meaning: string) => z.string().max(200).describe(`${meaning}, as launch_task gave it`);

export const launchedTaskOperations = {
  launch_task: boardOperation({
    title: "Launch a task without a project",
    role: "launch",
    description:
      "Starts an agent in a folder, without project or attempt. Returns at once; wait_tasks tells how it ends. A person has to approve a folder outside of all projects once.",
    toolset: "extended",
    destructive: true,
    openWorld: true,
    startsAgent: true,
    input: z.object({
      prompt: text("What the agent is to do", PROMPT_CHARS),
      description: text("What it is about, in a line; the beginning of the prompt when absent", TITLE_CHARS).optional(),
      directory: text("The folder to work in, an absolute path; the client's own when absent", 4096).optional(),
      executor: executor("What runs the agent; OPENCODE when absent").optional(),
      variant,
      ...runChoices,
      worktree: z.boolean().optional().describe("Work in a new git worktree of the folder, on its own branch"),
      queue: queueChoices.describe("Wait for any runner (asyncagents runner) to do it, instead of starting it here"),
      after: z
        .array(handle("A task"))
        .max(MOST_PREDECESSORS)
        .optional()
        .describe("Start when all of these have ended; {{result:HANDLE}} in the prompt becomes the result of one"),
      if_failed: z
        .enum(IF_FAILED)
        .optional()
        .describe(
          "If one of after does not complete: do not run, run all the same, or wait for a person; skip when absent",
        ),
      request_id: requestId,
    }),
    output: z.object({
      handle: z.string().describe("The launched task; wait_tasks takes it"),
      status: z.string().describe("running"),
      worktree: z
        .object({
          directory: z.string().describe("Where it works"),
          branch: z.string().describe("The branch with its work"),
        })
        .optional()
        .describe("Where it works, if it has a worktree"),
      warnings: z.array(z.string()).optional().describe("What the worktree lacks"),
      only_here: z
        .string()
        .optional()
        .describe("Why only a runner of this machine can do a queued task; absent when any can"),
    }),
  }),
  wait_tasks: boardOperation({
    title: "Wait for launched tasks",
    role: "read",
    description:
      "Says how launched tasks stand. With wait_ms it waits until one (or all) of them ended or asks something.",
    toolset: "extended",
    readOnly: true,
    input: z.object({
      handles: z.array(handle("A launched task")).min(1).max(50).describe("The tasks, at most 50"),
      until: z
        .enum(["any", "all"])
        .optional()
        .describe("any: return when one is done; all: when all are. all when absent"),
      wait_ms: waitMs,
    }),
    output: z.object({
      tasks: z
        .array(
          z.object({
            handle: handle("The task"),
            description: z.string().describe("What it is about"),
            status: z
              .enum(["running", "completed", "error", "cancelled", "resumed"])
              .describe("running and resumed are at work; the others have ended"),
            asked,
            progress: z.string().describe("What it did so far, in a line"),
            result: z.string().nullable().describe("What it ended with, up to 8,000 characters; null before"),
            error: z.string().nullable().describe("Why it failed or was cancelled; null otherwise"),
            changes: z.string().optional().describe("What it changed in its worktree, and how to merge it"),
          }),
        )
        .describe("In the order that was asked for"),
      done: z.boolean().describe("True when what was waited for is so"),
    }),
  }),
  answer_question: boardOperation({
    title: "Answer a question",
    role: "answer",
    description:
      "Answers the question that an attempt or a launched task waits for. Permissions are for people: they answer in the dashboard or the command line.",
    toolset: "extended",
    destructive: true,
    openWorld: true,
    input: z.object({
      attempt_id: uuid("The attempt that asks").optional(),
      handle: handle("The launched task that asks").optional(),
      answers: z
        .array(text("An answer", 10_000))
        .min(1)
        .max(10)
        .describe("One answer for each question, in their order"),
    }),
    output: z.object({ answered: z.boolean().describe("True: the agent goes on with the answer") }),
  }),
  lower_budget: boardOperation({
    title: "Lower what a task may use",
    role: "launch",
    description:
      "Sets or lowers what a launched task, with all tasks below it, may use in all. When it is used up, they are stopped. Only people can raise it.",
    toolset: "extended",
    destructive: true,
    idempotent: true,
    input: z.object({
      handle: handle("The launched task"),
      budget: text("Such as $2 30min 500ktok 5tasks: any of dollars, time, tokens, tasks", 200),
    }),
    output: z.object({ budget: z.string().describe("What is used of what") }),
  }),
  steer_task: boardOperation({
    title: "Tell a running agent something",
    role: "launch",
    description:
      "Sends a message to an attempt or a launched task that is at work; its agent reads it at its next step. One that has ended needs follow_up.",
    toolset: "extended",
    destructive: true,
    openWorld: true,
    startsAgent: true,
    input: z.object({
      attempt_id: uuid("The attempt that is at work").optional(),
      handle: handle("The launched task").optional(),
      text: text("What to tell the agent", 50_000),
      wait_ms: z
        .number()
        .int()
        .min(0)
        .max(50_000)
        .optional()
        .describe("Wait up to so many milliseconds (0 to 50000) until it is delivered or failed; 0 when absent"),
      request_id: requestId,
    }),
    output: z.object({
      state: z
        .enum(STEERING_STATES)
        .describe("accepted: stored; sent: in its session; delivered: it took it up; failed, cancelled: it did not"),
      reason: z.string().nullable().describe("Why it failed; null otherwise"),
    }),
  }),
};
