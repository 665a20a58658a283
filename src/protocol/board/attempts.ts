/**
 * Attempts on the wire: the operations that list, start, read, stop, compare, merge and remove them. On the wire, an
 * attempt's workspace is identified by its `attempt_id`. No behaviour.
 */
import { z } from "zod";
import {
  asked,
  attemptState,
  count,
  cursor,
  executor,
  limit,
  nextCursor,
  PROMPT_CHARS,
  requestId,
  runChoices,
  status,
  text,
  time,
  uuid,
  variant,
  waitMs,
  warnings,
} from "../fields.ts";
import { boardOperation } from "../operation.ts";

const state = attemptState(
  "starting: being set up; running; waiting: it asks something, see asked; completed; failed; stopped; merged: its work is in the target branch and its worktree is gone",
);

const change = {
  files: count("Files that changed"),
  insertions: count("Lines that were added"),
  deletions: count("Lines that were removed"),
};

const changedFile = z.object({
  path: z.string().describe("Its path in the repository"),
  from: z.string().nullable().describe("Where it was before, when it was moved"),
  insertions: count("Lines that were added, whether the diff shows them or not"),
  deletions: count("Lines that were removed, whether the diff shows them or not"),
  binary: z.boolean().describe("True when there are no lines to count or to show"),
  shown: z.enum(["whole", "part", "none"]).describe("How much of its changes is in the diff"),
});

export const attemptOperations = {
  list_task_attempts: boardOperation({
    title: "List a task's attempts",
    role: "read",
    description: "Lists the attempts of a task, newest first. An attempt_id can be given to follow_up as it is.",
    toolset: "core",
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
  start_task_attempt: boardOperation({
    title: "Start an attempt",
    role: "launch",
    description:
      "Starts an agent on a task, in a git worktree of its own for each repository, on a new branch from target_branch. Returns when it is started, or being set up if that takes long; follow it with list_task_attempts or get_attempt.",
    toolset: "core",
    destructive: true,
    openWorld: true,
    startsAgent: true,
    input: z.object({
      task_id: uuid("The task; its title and description are the first prompt"),
      executor: executor("What runs the agent"),
      variant,
      ...runChoices,
      prompt: text("The first prompt, instead of the task's title and description", PROMPT_CHARS).optional(),
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
  get_attempt: boardOperation({
    title: "Get an attempt",
    role: "read",
    description:
      "Reads how an attempt stands: state, final message, what it asks, diffstat, and what it did since cursor. With wait_ms it waits until the state is not starting or running.",
    toolset: "extended",
    readOnly: true,
    input: z.object({
      attempt_id: uuid("The attempt"),
      wait_ms: waitMs,
      log_cursor: z
        .string()
        .max(200)
        .optional()
        .describe("log_cursor of the answer before: only what is newer is given; absent: the newest entries"),
    }),
    output: z.object({
      attempt_id: uuid("The attempt"),
      task_id: uuid("Its task"),
      state,
      session_id: uuid("Its latest session; null while there is none").nullable(),
      executor: executor("What runs it"),
      workspace_branch: z.string().describe("The git branch that it works on"),
      created_at: time("When it was created"),
      updated_at: time("When it was last changed"),
      final_message: z
        .string()
        .nullable()
        .describe("What the newest run ended with, up to 8,000 characters; null before"),
      error: z.string().nullable().describe("Why it failed or was stopped; null otherwise"),
      asked,
      progress: z.string().describe("What the newest run did so far, in a line"),
      queued_count: count("Follow-ups that wait for the session to be idle"),
      queue_held: z
        .string()
        .nullable()
        .describe("Why queued follow-ups wait although the session is idle, and how to go on; null otherwise"),
      repos: z
        .array(
          z.object({
            repo_id: uuid("The repository"),
            repo_name: z.string().describe("Its name"),
            target_branch: z.string().describe("The branch that it started from and merges into"),
            path: z.string().nullable().describe("Its worktree, an absolute path; null when it is gone"),
            ...change,
            uncommitted: count("Paths that are changed and not committed"),
          }),
        )
        .describe(
          "The worktrees, with what changed since target_branch; when they went with the merge, with what the merge changed",
        ),
      log: z
        .array(
          z.object({
            at: time("When it began"),
            role: z.enum(["user", "assistant"]).describe("Who wrote it"),
            text: z.string().describe("The text, the first 1,000 characters; empty when there was none"),
            tools: z.array(z.string()).describe("The tools that were called, by name"),
          }),
        )
        .describe("What was said and done, oldest first, at most 20 entries"),
      log_cursor: z
        .string()
        .nullable()
        .describe("Give it back to get only what is newer; null when there is nothing yet"),
    }),
  }),
  stop_attempt: boardOperation({
    title: "Stop an attempt",
    role: "launch",
    stopsAgent: true,
    description:
      "Stops what an attempt does now. Its work stays in the worktree, and queued follow-ups stay queued until the next send or queue.",
    toolset: "extended",
    destructive: true,
    idempotent: true,
    input: z.object({ attempt_id: uuid("The attempt") }),
    output: z.object({ attempt_id: uuid("The attempt"), state }),
  }),
  get_attempt_diff: boardOperation({
    title: "Get an attempt's diff",
    role: "read",
    description:
      "Reads what an attempt changed since its target branch, uncommitted work too, as a unified diff; when its worktree went with the merge, what the merge changed.",
    toolset: "extended",
    readOnly: true,
    input: z.object({
      attempt_id: uuid("The attempt"),
      repo_id: uuid("Only this repository; all when absent").optional(),
      max_bytes: z
        .number()
        .int()
        .min(1000)
        .max(1_000_000)
        .optional()
        .describe("Cut the diff there: 1,000 to 1,000,000 bytes, 50,000 when absent"),
      max_files: z
        .number()
        .int()
        .min(0)
        .max(10_000)
        .optional()
        .describe("Name at most so many changed files of each repository: 0 to 10,000, 1,000 when absent"),
    }),
    output: z.object({
      attempt_id: uuid("The attempt"),
      repos: z
        .array(
          z.object({
            repo_id: uuid("The repository"),
            repo_name: z.string().describe("Its name"),
            ...change,
            diff: z.string().describe("The unified diff"),
            truncated: z.boolean().describe("True when the diff was cut"),
            complete: z
              .boolean()
              .describe("True when the diff shows every change: nothing was cut, and git could read all"),
            unread: z
              .string()
              .nullable()
              .describe("What git could not read, in its words; null when it read everything"),
            changed_files: z
              .array(changedFile)
              .describe("The changed files in the order of the diff, also those that were cut"),
            files_left_out: count("Changed files that changed_files does not name"),
          }),
        )
        .describe("One entry for each repository"),
    }),
  }),
  merge_attempt: boardOperation({
    title: "Merge an attempt",
    role: "admin",
    description:
      "Commits what is uncommitted, merges the attempt's branch into its target branch in every repository, removes the worktrees, and sets the task to done. On a conflict nothing is changed.",
    toolset: "extended",
    destructive: true,
    input: z.object({
      attempt_id: uuid("The attempt"),
      message: text("The commit message; the task's title when absent", 10_000).optional(),
      squash: z.boolean().optional().describe("True: one commit without the attempt's history. False when absent"),
      keep: z.boolean().optional().describe("True: the worktrees and branches stay. False when absent"),
      request_id: requestId,
    }),
    output: z.object({
      attempt_id: uuid("The attempt"),
      merged: z
        .array(
          z.object({
            repo_id: uuid("The repository"),
            target_branch: z.string().describe("The branch that it was merged into"),
            commit: z.string().describe("The tip of that branch now"),
            changed: z.boolean().describe("False when the branch had everything already"),
          }),
        )
        .describe("One entry for each repository"),
      removed: z.boolean().describe("True when the worktrees are gone"),
      task_status: status("Where the task stands now"),
      warnings: warnings("that hooks were not run, or why the worktrees stay"),
    }),
  }),
  remove_attempt: boardOperation({
    title: "Remove an attempt",
    role: "admin",
    description: "Removes an attempt's worktrees and branches; the attempt leaves the board.",
    peopleOnly: true,
    destructive: true,
    input: z.object({
      attempt_id: uuid("The attempt"),
      force: z.boolean().optional().describe("True: unmerged work is lost. False when absent"),
    }),
    output: z.object({ removed_attempt_id: uuid("The attempt that is gone") }),
  }),
  attempt_task: boardOperation({
    title: "Find an attempt's task of the engine",
    role: "read",
    description:
      "Gives the handle of the engine's task behind an attempt's latest session, for its conversation and events.",
    peopleOnly: true,
    readOnly: true,
    input: z.object({ attempt_id: uuid("The attempt") }),
    output: z.object({
      handle: z.string().nullable().describe("The task's id in the status API; null while there is none"),
    }),
  }),
  list_attempts: boardOperation({
    title: "List attempts",
    role: "read",
    description: "Lists the attempts of all tasks, or of one project, newest first.",
    peopleOnly: true,
    readOnly: true,
    input: z.object({
      project_id: uuid("Only attempts of this project; all when absent").optional(),
      limit: limit(50),
      cursor,
    }),
    output: z.object({
      attempts: z
        .array(
          z.object({
            attempt_id: uuid("The attempt"),
            task_id: uuid("Its task"),
            task_title: z.string().describe("The task's title"),
            project_id: uuid("The task's project"),
            state: attemptState("How it stands"),
            executor: executor("What runs it"),
            workspace_branch: z.string().describe("The git branch that it works on"),
            latest_session_id: uuid("Its newest session; null while there is none").nullable(),
            queued_count: count("Follow-ups that wait for the session to be idle"),
            created_at: time("When it was created"),
            updated_at: time("When it was last changed"),
          }),
        )
        .describe("The attempts of this page"),
      count: count("How many are in this page"),
      next_cursor: nextCursor,
    }),
  }),
};
