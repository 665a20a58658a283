/**
 * Work items on the wire, where they are called tasks: their operations. Names and fields are a contract: they only
 * grow. No behaviour.
 */
import { z } from "zod";
import {
  attemptState,
  count,
  cursor,
  DESCRIPTION_CHARS,
  executor,
  limit,
  nextCursor,
  requestId,
  status,
  TITLE_CHARS,
  text,
  time,
  uuid,
} from "../fields.ts";
import { boardOperation } from "../operation.ts";

/** Part of each work item that list_tasks, get_task and update_task return. */
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

export const workItemOperations = {
  list_tasks: boardOperation({
    title: "List tasks",
    role: "read",
    description:
      "Lists the tasks of a project, newest first, each with its latest attempt. Filter by status to save tokens.",
    toolset: "core",
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
  get_task: boardOperation({
    title: "Get a task",
    role: "read",
    description: "Reads one task in full, with its description and its latest attempt.",
    toolset: "core",
    readOnly: true,
    input: z.object({ task_id: uuid("The task") }),
    output: z.object({ task: task.describe("The task") }),
  }),
  create_task: boardOperation({
    title: "Create a task",
    role: "launch",
    description: "Adds a task to a project. Nothing runs yet: start_task_attempt does that.",
    toolset: "core",
    input: z.object({
      project_id: uuid("The project"),
      title: text(`What it is about, in a line of at most ${TITLE_CHARS} characters`, TITLE_CHARS),
      description: text(
        "What is to be done, in full; with the title it is the agent's first prompt",
        DESCRIPTION_CHARS,
      ).optional(),
      request_id: requestId,
    }),
    output: z.object({ task_id: uuid("The new task") }),
  }),
  update_task: boardOperation({
    title: "Change a task",
    role: "launch",
    description:
      "Changes title, description or status of a task. What is left out stays as it is. A running attempt goes on.",
    toolset: "core",
    destructive: true,
    idempotent: true,
    input: z.object({
      task_id: uuid("The task"),
      title: text(`The new title, at most ${TITLE_CHARS} characters`, TITLE_CHARS).optional(),
      description: text("The new description", DESCRIPTION_CHARS).optional(),
      status: status("The new status: todo, inprogress, inreview, done or cancelled").optional(),
    }),
    output: z.object({ task: task.describe("The task as it is now") }),
  }),
  delete_task: boardOperation({
    title: "Delete a task",
    role: "admin",
    description:
      "Deletes a task with its attempts and their worktrees. Refused while an attempt runs, or when work would be lost that is not merged, unless force is true.",
    toolset: "core",
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
  get_context: boardOperation({
    title: "Get the current context",
    role: "read",
    description: "Says which project, task and attempt the current directory belongs to.",
    toolset: "core",
    readOnly: true,
    /** MCP clients send nothing: their server knows the directory. */
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
