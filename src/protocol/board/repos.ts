/**
 * The git repositories of a project on the wire: their operations. No behaviour.
 */
import { z } from "zod";
import { APPROVAL_STATES } from "../../model/approval.ts";
import { count, cursor, limit, nextCursor, requestId, text, uuid } from "../fields.ts";
import { boardOperation } from "../operation.ts";

export const addedRepo = z.object({
  repo_id: uuid("The new repository"),
  name: z.string().describe("Its name"),
  current_branch: z.string().nullable().describe("The branch that is checked out there now; null for none"),
  approval_id: uuid("What a person has to approve before its setup script may run; null for nothing").nullable(),
});

export const repoOperations = {
  list_repos: boardOperation({
    title: "List repositories",
    role: "read",
    description: "Lists the git repositories of a project. start_task_attempt needs their ids.",
    toolset: "core",
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
  add_repo: boardOperation({
    title: "Add a repository",
    role: "admin",
    description:
      "Adds a local git repository to a project. A person has to approve a folder outside of all projects, and a setup script, once.",
    toolset: "extended",
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
  find_repo: boardOperation({
    title: "Find a repository",
    role: "read",
    description:
      "Finds a repository of the board by its folder or its id. Give path or repo_id. All fields are null when there is none.",
    peopleOnly: true,
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
  update_repo: boardOperation({
    title: "Change a repository",
    role: "admin",
    description:
      "Changes the name, the copied files or the setup script of a repository. What is left out stays as it is. Attempts that exist are not touched.",
    peopleOnly: true,
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
  remove_repo: boardOperation({
    title: "Remove a repository",
    role: "admin",
    description:
      "Takes a repository out of its project. Refused while an attempt uses it. The folder on disk is not touched.",
    peopleOnly: true,
    destructive: true,
    input: z.object({ repo_id: uuid("The repository") }),
    output: z.object({ removed_repo_id: uuid("The repository that is gone") }),
  }),
};
