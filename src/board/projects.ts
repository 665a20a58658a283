/** Projects and their repositories: adding, listing, removing. A repo is stored as git's own top folder of it; nothing on disk changes. */
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import type { OperationOutput } from "../client/operations.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { inspectRepo } from "../worktree/repo.ts";
import type { BoardContext } from "./board-context.ts";
import type { Input } from "./input.ts";
import { notFound } from "./missing.ts";
import { pageOf, shown } from "./pages.ts";
import { requiredText, wireTime } from "./wire.ts";

export async function addProject(
  { store, now, newId }: BoardContext,
  input: Input<"add_project">,
): Promise<OperationOutput<"add_project">> {
  const name = requiredText("name", input.name).trim();
  const [id, at] = [newId(), now()];
  if (!(await store.board.addProject({ id, name, createdAt: at, updatedAt: at }))) {
    throw nameTaken(
      `There is a project ${JSON.stringify(name)} already. list_projects shows it; or choose another name.`,
    );
  }
  return { project_id: id };
}

export async function listProjects(
  { store }: BoardContext,
  input: Input<"list_projects">,
): Promise<OperationOutput<"list_projects">> {
  const { rows, next } = shown(await store.board.projects(pageOf(input)), input);
  const projects = rows.map(({ id, name, createdAt, updatedAt }) => ({
    ...{ id, name },
    created_at: wireTime(createdAt),
    updated_at: wireTime(updatedAt),
  }));
  return { projects, count: projects.length, next_cursor: next };
}

export async function removeProject(
  { store }: BoardContext,
  { project_id }: Input<"remove_project">,
): Promise<OperationOutput<"remove_project">> {
  await assertProject(store, project_id);
  if (await store.board.removeProject(project_id)) return { removed_project_id: project_id };
  const message = `Project ${project_id} still has tasks. Delete them first: list_tasks shows them, delete_task deletes one.`;
  throw new AsyncAgentsError("not_empty", message, { details: { project_id } });
}

export async function addRepo(
  { store, now, newId }: BoardContext,
  input: Input<"add_repo">,
): Promise<OperationOutput<"add_repo">> {
  await assertProject(store, input.project_id);
  const repo = await inspectRepo(input.path);
  const path = realpathSync(repo.root);
  const name = input.name === undefined ? basename(path).slice(0, 100) : requiredText("name", input.name).trim();
  const id = newId();
  const added = await store.board.addRepo({
    ...{ id, name, path, projectId: input.project_id, createdAt: now() },
    copy: input.copy ?? [],
    setup: input.setup?.trim() ? input.setup : null,
  });
  if (!added) {
    throw nameTaken(
      `The project has a repository ${JSON.stringify(name)} already. Give another name, or use that one.`,
    );
  }
  return { repo_id: id, name, current_branch: repo.currentBranch };
}

export async function listRepos(
  { store }: BoardContext,
  input: Input<"list_repos">,
): Promise<OperationOutput<"list_repos">> {
  await assertProject(store, input.project_id);
  const { rows, next } = shown(await store.board.reposOf(input.project_id, pageOf(input)), input);
  const repos = rows.map(({ id, name }) => ({ id, name }));
  return { repos, count: repos.length, project_id: input.project_id, next_cursor: next };
}

export async function findRepo(
  { store }: BoardContext,
  { path, repo_id }: Input<"find_repo">,
): Promise<OperationOutput<"find_repo">> {
  if (path !== undefined && repo_id !== undefined) {
    const message = "path and repo_id exclude each other. Give one of them.";
    throw new AsyncAgentsError("invalid_input", message, { details: { field: "path" } });
  }
  const repo =
    repo_id === undefined
      ? await store.board.repoAt(realpathSync((await inspectRepo(requiredText("path", path))).root))
      : ((await store.board.repos([repo_id]))[0] ?? null);
  if (repo === null) return { project_id: null, repo_id: null, path: null, current_branch: null };
  const { currentBranch } = await inspectRepo(repo.path);
  return { project_id: repo.projectId, repo_id: repo.id, path: repo.path, current_branch: currentBranch };
}

export async function assertProject(store: BoardContext["store"], id: string): Promise<void> {
  if ((await store.board.project(id)) === null) throw notFound("project", id);
}

function nameTaken(message: string): AsyncAgentsError {
  return new AsyncAgentsError("name_taken", message, { details: { field: "name" } });
}
