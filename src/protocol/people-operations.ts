/**
 * The operations for people only: the command line and the dashboard offer them, MCP clients never see them. No behaviour.
 */
import { z } from "zod";
import { APPROVAL_KINDS, APPROVAL_STATES } from "../model/approval.ts";
import { attemptState, count, cursor, executor, limit, nextCursor, operation, text, time, uuid } from "./operation.ts";

const approval = z.object({
  approval_id: uuid("The approval"),
  kind: z
    .enum(APPROVAL_KINDS)
    .describe(
      "setup: run script in each new worktree of the repository in directory; directory: let agents work there",
    ),
  state: z.enum(APPROVAL_STATES).describe("requested: nobody has decided yet; approved; denied"),
  directory: z.string().describe("The repository or the directory, a real path"),
  script: z.string().nullable().describe("The whole script; null for a directory"),
  asked_by: z.string().describe("Who asked"),
  created_at: time("When it was asked"),
  decided_at: time("When a person decided; null before").nullable(),
});

export const peopleOperations = {
  remove_attempt: operation({
    title: "Remove an attempt",
    description: "Removes an attempt's worktrees and branches; the attempt leaves the board.",
    toolset: "people",
    destructive: true,
    input: z.object({
      attempt_id: uuid("The attempt"),
      force: z.boolean().optional().describe("True: unmerged work is lost. False when absent"),
    }),
    output: z.object({ removed_attempt_id: uuid("The attempt that is gone") }),
  }),
  remove_project: operation({
    title: "Remove a project",
    description: "Removes a project that has no tasks. Repositories on disk are not touched.",
    toolset: "people",
    destructive: true,
    input: z.object({ project_id: uuid("The project") }),
    output: z.object({ removed_project_id: uuid("The project that is gone") }),
  }),
  find_repo: operation({
    title: "Find a repository",
    description:
      "Finds a repository of the board by its folder or its id. Give path or repo_id. All fields are null when there is none.",
    toolset: "people",
    readOnly: true,
    input: z.object({
      path: text("A folder in the repository's checkout, an absolute path", 4096).optional(),
      repo_id: uuid("The repository").optional(),
    }),
    output: z.object({
      project_id: uuid("Its project").nullable(),
      repo_id: uuid("The repository").nullable(),
      name: z.string().nullable().describe("Its name"),
      copy: z.array(z.string()).describe("The untracked files that each worktree gets"),
      setup: z.string().nullable().describe("The script that is run in each new worktree; null for none"),
      setup_approval: z
        .enum(APPROVAL_STATES)
        .nullable()
        .describe("Whether a person approved that script; null where nobody was asked yet, or there is none"),
      path: z.string().nullable().describe("The top folder of its checkout, an absolute path"),
      current_branch: z
        .string()
        .nullable()
        .describe("The branch that is checked out there now; null for none, or when the folder is gone"),
    }),
  }),
  attempt_task: operation({
    title: "Find an attempt's task of the engine",
    description:
      "Gives the handle of the engine's task behind an attempt's latest session, for its conversation and events.",
    toolset: "people",
    readOnly: true,
    input: z.object({ attempt_id: uuid("The attempt") }),
    output: z.object({
      handle: z.string().nullable().describe("The task's id in the status API; null while there is none"),
    }),
  }),
  list_attempts: operation({
    title: "List attempts",
    description: "Lists the attempts of all tasks, or of one project, newest first.",
    toolset: "people",
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
  list_follow_ups: operation({
    title: "List queued follow-ups",
    description:
      "Lists the prompts that are queued for an attempt's latest session, in the order in which they will run.",
    toolset: "people",
    readOnly: true,
    input: z.object({ attempt_id: uuid("The attempt"), limit: limit(50) }),
    output: z.object({
      attempt_id: uuid("The attempt"),
      session_id: uuid("Its latest session; null while there is none").nullable(),
      follow_ups: z
        .array(
          z.object({
            message: z.string().describe("The prompt, the first 10,000 characters"),
            variant: z.string().nullable().describe("The agent that was asked for; null for the session's own"),
            queued_at: time("When it was queued"),
            error: z.string().nullable().describe("Why it could not begin when it was its turn; null otherwise"),
          }),
        )
        .describe("The first of the queue, at most limit"),
      queued_count: count("How many are queued in all"),
      queue_held: z
        .string()
        .nullable()
        .describe("Why they wait although the session is idle, and how to go on; null otherwise"),
    }),
  }),
  list_approvals: operation({
    title: "List approvals",
    description:
      "Lists what a person is asked to approve, or has decided, newest first: setup scripts, and directories outside of all projects.",
    toolset: "people",
    readOnly: true,
    input: z.object({
      state: z.enum(APPROVAL_STATES).optional().describe("Only those in this state; all when absent"),
      limit: limit(50),
      cursor,
    }),
    output: z.object({
      approvals: z.array(approval).describe("The approvals of this page"),
      count: count("How many are in this page"),
      next_cursor: nextCursor,
    }),
  }),
  decide_approval: operation({
    title: "Approve or deny",
    description: "Decides what a person was asked to approve. A decision can be changed later; what has run, has run.",
    toolset: "people",
    idempotent: true,
    input: z.object({
      approval_id: uuid("The approval"),
      decision: z.enum(["approve", "deny"]).describe("approve or deny"),
    }),
    output: z.object({ approval: approval.describe("The approval as it is now") }),
  }),
  allow_directory: operation({
    title: "Allow a directory",
    description: "Lets models start agents in a directory outside of all projects, and in all that is below it.",
    toolset: "people",
    idempotent: true,
    input: z.object({ directory: text("The directory, an absolute path", 4096) }),
    output: z.object({ approval: approval.describe("The approval as it is now") }),
  }),
  update_repo: operation({
    title: "Change a repository",
    description:
      "Changes the name, the copied files or the setup script of a repository. What is left out stays as it is. Attempts that exist are not touched.",
    toolset: "people",
    idempotent: true,
    input: z.object({
      repo_id: uuid("The repository"),
      name: text("The new name", 100).optional(),
      copy: z
        .array(text("A path or git pattern", 500))
        .max(100)
        .optional()
        .describe("The untracked files to copy into each worktree; an empty list for none"),
      setup: text("The bash script to run in each new worktree; empty for none", 20_000).optional(),
    }),
    output: z.object({
      repo_id: uuid("The repository"),
      name: z.string().describe("Its name"),
      copy: z.array(z.string()).describe("The untracked files that each worktree gets"),
      setup: z.string().nullable().describe("The script that is run in each new worktree; null for none"),
    }),
  }),
  remove_repo: operation({
    title: "Remove a repository",
    description:
      "Takes a repository out of its project. Refused while an attempt uses it. The folder on disk is not touched.",
    toolset: "people",
    destructive: true,
    input: z.object({ repo_id: uuid("The repository") }),
    output: z.object({ removed_repo_id: uuid("The repository that is gone") }),
  }),
};
