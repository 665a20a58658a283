/**
 * Projects on the wire: the operations that list, add and remove them. No behaviour.
 */
import { z } from "zod";
import { count, cursor, limit, nextCursor, requestId, text, time, uuid } from "../fields.ts";
import { boardOperation } from "../operation.ts";
import { addedRepo } from "./repos.ts";

export const projectOperations = {
  list_projects: boardOperation({
    title: "List projects",
    role: "read",
    description: "Lists all projects, oldest first. Start here to find a project_id.",
    toolset: "core",
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
  add_project: boardOperation({
    title: "Add a project",
    role: "admin",
    description: "Creates a project, with repositories or without. add_repo adds more.",
    toolset: "extended",
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
  remove_project: boardOperation({
    title: "Remove a project",
    role: "admin",
    description: "Removes a project that has no tasks. Repositories on disk are not touched.",
    peopleOnly: true,
    destructive: true,
    input: z.object({ project_id: uuid("The project") }),
    output: z.object({ removed_project_id: uuid("The project that is gone") }),
  }),
};
