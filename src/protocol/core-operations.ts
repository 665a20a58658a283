/**
 * The eleven operations that every MCP client is offered. What the board calls a work item is a `task` here, and an attempt's
 * workspace is its `attempt_id`. Names and shapes are a contract: they only grow. No behaviour.
 */
import { z } from "zod";
import {
  attemptState,
  count,
  cursor,
  executor,
  limit,
  nextCursor,
  operation,
  requestId,
  runChoices,
  status,
  text,
  time,
  uuid,
  variant,
  warnings,
} from "./operation.ts";

export const MAX_TITLE = 300;
export const MAX_DESCRIPTION = 200_000;
export const MAX_PROMPT = 200_000;

const summary = {
  latest_attempt_id: uuid("The attempt that was created last; null when there is none").nullable(),
  latest_attempt_state: attemptState("How that attempt stands; null when there is none").nullable(),
  latest_workspace_branch: z.string().nullable().describe("The git branch of that attempt; null when there is none"),
  latest_session_id: uuid("The newest session of that attempt; null when there is none").nullable(),
  latest_session_executor: executor("What runs that session; null when there is none").nullable(),
  has_in_progress_attempt: z.boolean().describe("True while an attempt of this task is being set up or at work"),
  last_attempt_failed: z.boolean().describe("True when the newest run of the latest attempt failed or was stopped"),
};

const taskRow = z.object({
  id: uuid("The task; other tools call it task_id"),
  title: z.string().describe("The task's title"),
  status: status("Where it stands"),
  created_at: time("When it was created"),
  updated_at: time("When it was last changed"),
  ...summary,
});

const task = taskRow.extend({
  project_id: uuid("Its project"),
  description: z.string().nullable().describe("What is to be done, in full; null when nothing was given"),
});

const queuedMessage = z.object({
  session_id: uuid("The session that it waits for"),
  message: z.string().describe("The prompt, the first 2,000 characters"),
  variant: z.string().nullable().describe("The agent that was asked for; null for the session's own"),
  queued_at: time("When it was queued"),
});

export const seedOperations = {
  list_projects: operation({
    title: "List projects",
    description: "Lists all projects, oldest first. Start here to find a project_id.",
    toolset: "seed",
    readOnly: true,
    input: z.object({ limit: limit(50), cursor }),
    output: z.object({
      projects: z
        .array(
          z.object({
            id: uuid("The project; other tools call it project_id"),
            name: z.string().describe("The project's name"),
            created_at: time("When it was created"),
            updated_at: time("When it was last changed"),
          }),
        )
        .describe("The projects of this page"),
      count: count("How many are in this page"),
      next_cursor: nextCursor,
    }),
  }),
  list_repos: operation({
    title: "List repositories",
    description: "Lists the git repositories of a project. start_task_attempt needs their ids.",
    toolset: "seed",
    readOnly: true,
    input: z.object({ project_id: uuid("The project"), limit: limit(50), cursor }),
    output: z.object({
      repos: z
        .array(
          z.object({
            id: uuid("The repository; other tools call it repo_id"),
            name: z.string().describe("The repository's name"),
          }),
        )
        .describe("The repositories of this page"),
      count: count("How many are in this page"),
      project_id: uuid("The project that was asked for"),
      next_cursor: nextCursor,
    }),
  }),
  list_tasks: operation({
    title: "List tasks",
    description:
      "Lists the tasks of a project, newest first, each with its latest attempt. Filter by status to save tokens.",
    toolset: "seed",
    readOnly: true,
    input: z.object({
      project_id: uuid("The project"),
      status: status(
        "Only tasks that stand there: todo, inprogress, inreview, done or cancelled; all when absent",
      ).optional(),
      search: z.string().max(200).optional().describe("Only tasks whose title or description has all of these words"),
      limit: limit(50),
      cursor,
    }),
    output: z.object({
      tasks: z.array(taskRow).describe("The tasks of this page"),
      count: count("How many are in this page"),
      project_id: uuid("The project that was asked for"),
      applied_filters: z
        .object({
          status: status("The status that was asked for; null for all").nullable(),
          limit: count("The most rows that this page could have"),
        })
        .describe("What the list was filtered by"),
      next_cursor: nextCursor,
    }),
  }),
  list_task_attempts: operation({
    title: "List a task's attempts",
    description: "Lists the attempts of a task, newest first. An attempt_id can be given to follow_up as it is.",
    toolset: "seed",
    readOnly: true,
    input: z.object({ task_id: uuid("The task"), limit: limit(50), cursor }),
    output: z.object({
      attempts: z
        .array(
          z.object({
            attempt_id: uuid("The attempt"),
            state: attemptState("How it stands"),
            workspace_branch: z.string().describe("The git branch that the attempt works on"),
            created_at: time("When it was created"),
            updated_at: time("When it was last changed"),
            latest_session_id: uuid("Its newest session; null while there is none").nullable(),
            latest_session_executor: executor("What runs that session; null while there is none").nullable(),
          }),
        )
        .describe("The attempts of this page"),
      task_id: uuid("The task that was asked for"),
      count: count("How many are in this page"),
      latest_attempt_id: uuid("The attempt that was created last; null when there is none").nullable(),
      latest_session_id: uuid("The newest session of that attempt; null when there is none").nullable(),
      next_cursor: nextCursor,
    }),
  }),
  get_task: operation({
    title: "Get a task",
    description: "Reads one task in full, with its description and its latest attempt.",
    toolset: "seed",
    readOnly: true,
    input: z.object({ task_id: uuid("The task") }),
    output: z.object({ task: task.describe("The task") }),
  }),
  create_task: operation({
    title: "Create a task",
    description: "Adds a task to a project. Nothing runs yet: start_task_attempt does that.",
    toolset: "seed",
    input: z.object({
      project_id: uuid("The project"),
      title: text(`What it is about, in a line of at most ${MAX_TITLE} characters`, MAX_TITLE),
      description: text(
        "What is to be done, in full; with the title it is the agent's first prompt",
        MAX_DESCRIPTION,
      ).optional(),
      request_id: requestId,
    }),
    output: z.object({ task_id: uuid("The new task") }),
  }),
  update_task: operation({
    title: "Change a task",
    description:
      "Changes title, description or status of a task. What is left out stays as it is. A running attempt goes on.",
    toolset: "seed",
    destructive: true,
    idempotent: true,
    input: z.object({
      task_id: uuid("The task"),
      title: text(`The new title, at most ${MAX_TITLE} characters`, MAX_TITLE).optional(),
      description: text("The new description", MAX_DESCRIPTION).optional(),
      status: status("The new status: todo, inprogress, inreview, done or cancelled").optional(),
    }),
    output: z.object({ task: task.describe("The task as it is now") }),
  }),
  delete_task: operation({
    title: "Delete a task",
    description:
      "Deletes a task with its attempts and their worktrees. Refused while an attempt runs, or when work would be lost that is not merged, unless force is true.",
    toolset: "seed",
    destructive: true,
    input: z.object({
      task_id: uuid("The task"),
      force: z
        .boolean()
        .optional()
        .describe("True: running attempts are stopped and unmerged work is lost. False when absent"),
    }),
    output: z.object({ deleted_task_id: uuid("The task that is gone") }),
  }),
  start_task_attempt: operation({
    title: "Start an attempt",
    description:
      "Starts an agent on a task, in a git worktree of its own for each repository, on a new branch from target_branch. Returns when it is started, or being set up if that takes long; follow it with list_task_attempts or get_attempt.",
    toolset: "seed",
    destructive: true,
    openWorld: true,
    input: z.object({
      task_id: uuid("The task; its title and description are the first prompt"),
      executor: executor("What runs the agent"),
      variant,
      ...runChoices,
      prompt: text("The first prompt, instead of the task's title and description", MAX_PROMPT).optional(),
      repos: z
        .array(
          z.object({
            repo_id: uuid("A repository of the task's project"),
            target_branch: text("The local branch to start from and to merge into, for example main", 250),
          }),
        )
        .min(1)
        .max(20)
        .describe("The repositories to work in, at least one"),
      request_id: requestId,
    }),
    output: z.object({
      task_id: uuid("The task"),
      attempt_id: uuid("The new attempt"),
      warnings: warnings("that uncommitted changes or submodules are not in the worktree"),
    }),
  }),
  follow_up: operation({
    title: "Follow up",
    description:
      "Continues a session. send: runs the prompt now, refused while the session is busy. queue: keeps it, also over restarts, until the session is idle; first in, first out. cancel: removes all that is queued. Give attempt_id or session_id, not both.",
    toolset: "seed",
    destructive: true,
    openWorld: true,
    input: z.looseObject({
      attempt_id: uuid("The attempt, for its latest session").optional(),
      session_id: uuid("The session").optional(),
      action: z.enum(["send", "queue", "cancel"]).describe("send, queue or cancel"),
      prompt: text("What the agent is to do; needed for send and queue", MAX_PROMPT).optional(),
      variant,
      request_id: requestId,
    }),
    output: z.object({
      session_id: uuid("The session"),
      action: z.enum(["send", "queue", "cancel"]).describe("The action that was done"),
      run: count("send: the number of the run that was started (the first prompt was run 0)").optional(),
      status: z.enum(["empty", "queued"]).describe("Whether prompts are queued for the session now"),
      queued_count: count("How many are queued now"),
      queued_message: queuedMessage.optional().describe("The next one that will run; absent when none is queued"),
    }),
  }),
  get_context: operation({
    title: "Get the current context",
    description: "Says which project, task and attempt the current directory belongs to.",
    toolset: "seed",
    readOnly: true,
    /** MCP clients give nothing: their server knows the directory. */
    input: z.object({ directory: text("An absolute path in an attempt's workspace", 4096).optional() }),
    output: z.object({
      project_id: uuid("The project"),
      project_name: z.string().describe("The project's name"),
      task_id: uuid("The task"),
      task_title: z.string().describe("The task's title"),
      task_status: status("Where the task stands"),
      attempt_id: uuid("The attempt whose workspace this is"),
      workspace_branch: z.string().describe("The git branch that the attempt works on"),
      workspace_repos: z
        .array(
          z.object({
            repo_id: uuid("The repository"),
            repo_name: z.string().describe("The repository's name"),
            target_branch: z.string().describe("The branch that the attempt started from and merges into"),
          }),
        )
        .describe("The repositories of the attempt"),
    }),
  }),
};
