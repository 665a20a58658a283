/**
 * The operations of the second toolset: reading and steering attempts, setting up projects, tasks without a project. Tasks without
 * a project have handles, which are not UUIDs. No behaviour.
 */
import { z } from "zod";
import { MAX_PROMPT, MAX_TITLE } from "./core-operations.ts";
import {
  attemptState,
  count,
  executor,
  operation,
  requestId,
  runChoices,
  status,
  text,
  time,
  uuid,
  variant,
  waitMs,
  warnings,
} from "./operation.ts";

const state = attemptState(
  "starting: being set up; running; waiting: it asks something, see asked; completed; failed; stopped; merged: its work is in the target branch and its worktree is gone",
);

const asked = z
  .object({
    kind: z
      .enum(["permission", "question"])
      .describe("permission: only a person can answer; question: answer_question can"),
    text: z.string().describe("What is asked, the first 2,000 characters"),
  })
  .nullable()
  .describe("What it waits for; null when it waits for nothing");

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

const addedRepo = z.object({
  repo_id: uuid("The new repository"),
  name: z.string().describe("Its name"),
  current_branch: z.string().nullable().describe("The branch that is checked out there now; null for none"),
  approval_id: uuid("What a person has to approve before its setup script may run; null for nothing").nullable(),
});

const handle = (meaning: string) => z.string().max(200).describe(`${meaning}, as launch_task gave it`);

export const furtherOperations = {
  get_attempt: operation({
    title: "Get an attempt",
    description:
      "Reads how an attempt stands: state, final message, what it asks, diffstat, and what it did since cursor. With wait_ms it waits until the state is not starting or running.",
    toolset: "more",
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
  stop_attempt: operation({
    title: "Stop an attempt",
    description:
      "Stops what an attempt does now. Its work stays in the worktree, and queued follow-ups stay queued until the next send or queue.",
    toolset: "more",
    destructive: true,
    idempotent: true,
    input: z.object({ attempt_id: uuid("The attempt") }),
    output: z.object({ attempt_id: uuid("The attempt"), state }),
  }),
  get_attempt_diff: operation({
    title: "Get an attempt's diff",
    description:
      "Reads what an attempt changed since its target branch, uncommitted work too, as a unified diff; when its worktree went with the merge, what the merge changed.",
    toolset: "more",
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
  merge_attempt: operation({
    title: "Merge an attempt",
    description:
      "Commits what is uncommitted, merges the attempt's branch into its target branch in every repository, removes the worktrees, and sets the task to done. On a conflict nothing is changed.",
    toolset: "more",
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
  answer_question: operation({
    title: "Answer a question",
    description:
      "Answers the question that an attempt or a launched task waits for. Permissions are for people: they answer in the dashboard or the command line.",
    toolset: "more",
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
  add_project: operation({
    title: "Add a project",
    description: "Creates a project, with repositories or without. add_repo adds more.",
    toolset: "more",
    input: z.object({
      name: text("Its name, unique, at most 100 characters", 100),
      repos: z
        .array(text("A repository's folder on this machine, an absolute path", 4096))
        .max(20)
        .optional()
        .describe("Its git repositories; if one cannot be added, there is no project either"),
      request_id: requestId,
    }),
    output: z.object({
      project_id: uuid("The new project"),
      repos: z.array(addedRepo).describe("The repositories, in the order that they were given"),
    }),
  }),
  add_repo: operation({
    title: "Add a repository",
    description:
      "Adds a local git repository to a project. A person has to approve a folder outside of all projects, and a setup script, once.",
    toolset: "more",
    input: z.object({
      project_id: uuid("The project"),
      path: text("The repository's folder on this machine, an absolute path", 4096),
      name: text("Its name; the folder's name when absent", 100).optional(),
      copy: z
        .array(text("A path or git pattern", 500))
        .max(100)
        .optional()
        .describe("Untracked files to copy into each worktree, for example .env"),
      setup: text("A bash script that is run in each new worktree before the agent starts", 20_000).optional(),
      request_id: requestId,
    }),
    output: addedRepo,
  }),
  list_executors: operation({
    title: "List executors",
    description: "Lists what can run agents here, and the agents (variants) of each.",
    toolset: "more",
    readOnly: true,
    input: z.object({
      directory: text(
        "Agents as seen from this folder, an absolute path; where no person has approved it, and when absent, those that are known already",
        4096,
      ).optional(),
    }),
    output: z.object({
      executors: z
        .array(
          z.object({
            executor: executor("The name to give as executor"),
            available: z.boolean().describe("True when it can be used on this machine"),
            problem: z.string().nullable().describe("Why not, and what to do; null when it is available"),
            default_variant: z
              .string()
              .nullable()
              .describe("The agent that runs when none is named; null for the program's own"),
            variants: z.array(z.string()).describe("The agents that can be named as variant"),
          }),
        )
        .describe("Also those that are not available"),
    }),
  }),
  launch_task: operation({
    title: "Launch a task without a project",
    description:
      "Starts an agent in a folder, without worktree, project or attempt. Returns at once; wait_tasks tells how it ends. A person has to approve a folder outside of all projects once.",
    toolset: "more",
    destructive: true,
    openWorld: true,
    input: z.object({
      prompt: text("What the agent is to do", MAX_PROMPT),
      description: text("What it is about, in a line; the beginning of the prompt when absent", MAX_TITLE).optional(),
      directory: text("The folder to work in, an absolute path; the client's own when absent", 4096).optional(),
      executor: executor("What runs the agent; OPENCODE when absent").optional(),
      variant,
      ...runChoices,
      request_id: requestId,
    }),
    output: z.object({
      handle: z.string().describe("The launched task; wait_tasks takes it"),
      status: z.string().describe("running"),
    }),
  }),
  wait_tasks: operation({
    title: "Wait for launched tasks",
    description:
      "Says how launched tasks stand. With wait_ms it waits until one (or all) of them ended or asks something.",
    toolset: "more",
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
          }),
        )
        .describe("In the order that was asked for"),
      done: z.boolean().describe("True when what was waited for is so"),
    }),
  }),
};
