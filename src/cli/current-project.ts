/**
 * The project a command is about if none is named: that of the repository around the current folder, or else the only
 * project.
 */
import type { Client } from "../client/client.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import type { Invocation } from "./command.ts";
import { allProjects, resolveProject } from "./identifiers.ts";

export const PROJECT_OPTION = {
  value: "project",
  short: "p",
  summary: "its name or id; that of the repository around this folder when absent",
  completes: "project",
} as const;

export async function currentProject({ arguments: given, cwd }: Invocation, client: Client): Promise<string> {
  const named = given.text("project");
  if (named !== undefined) return (await resolveProject(client, named)).id;
  const here = await client.operate("find_repo", { path: cwd }).catch(notInRepo);
  if (here?.project_id) return here.project_id;
  const [only, ...others] = await allProjects(client);
  if (only && others.length === 0) return only.id;
  const remedy = only
    ? "Name one with --project: asyncagents project ls"
    : "Create one: asyncagents project add <name> --repo <path>";
  throw new AsyncAgentsError("missing_required", `This folder does not belong to a project. ${remedy}`);
}

function notInRepo(thrown: unknown): null {
  if (AsyncAgentsError.isInstance(thrown) && ["repo_invalid", "not_found", "invalid_input"].includes(thrown.code))
    return null;
  throw thrown;
}
