/**
 * Projects and their repositories: adding, listing, removing. A repository is stored as git's own top-level folder;
 * nothing on disk changes.
 */
import { existsSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import type { Approval } from "../model/approval.ts";
import type { BoardRepo } from "../model/board.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import type { OperationOutput } from "../protocol/operations.ts";
import { inspectRepo } from "../worktree/git/repo.ts";
import {
  assertDirectory,
  assertRepo,
  isRepoAllowed,
  noteSetup,
  pathsUpFrom,
  realOf,
  setupApproval,
} from "./approvals.ts";
import type { BoardCall } from "./board-call.ts";
import type { BoardContext } from "./board-context.ts";
import type { Input } from "./input.ts";
import { notFound } from "./not-found.ts";
import { pageOf, shown } from "./pages.ts";
import { requiredText, wireTime } from "./wire.ts";

export async function addProject(
  context: BoardContext,
  input: Input<"add_project">,
  call: BoardCall,
): Promise<OperationOutput<"add_project">> {
  const { store, now, newId } = context;
  const name = requiredText("name", input.name).trim();
  const [id, at] = [newId(), now()];
  // Every problem with a folder is found before anything is written.
  const found: FoundRepo[] = [];
  for (const path of input.repos ?? []) found.push(await foundRepo(context, path, call));
  const repos = found.map((repo) => ({ ...repo, id: newId(), copy: [], setup: null }));
  const twice = repos.find((repo, i) => repos.findIndex((other) => other.name === repo.name) !== i);
  if (twice !== undefined)
    throw nameTaken(
      `Two of the repositories are called ${JSON.stringify(twice.name)}. Add one of them later, with a name of its own.`,
    );
  const rows = repos.map(({ currentBranch: _, ...repo }) => ({ ...repo, projectId: id, createdAt: at }));
  if (!(await store.board.addProject({ id, name, createdAt: at, updatedAt: at }, rows))) {
    throw nameTaken(
      `There is a project ${JSON.stringify(name)} already. list_projects shows it; or choose another name.`,
    );
  }
  return { project_id: id, repos: repos.map((repo) => wireAddedRepo(repo, null)) };
}

export async function listProjects(
  { store }: BoardContext,
  input: Input<"list_projects">,
): Promise<OperationOutput<"list_projects">> {
  const { rows, next } = shown(await store.board.projects(pageOf(input)), input);
  const projects = rows.map(({ id, name, createdAt, updatedAt }) => ({
    id,
    name,
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
  context: BoardContext,
  input: Input<"add_repo">,
  call: BoardCall,
): Promise<OperationOutput<"add_repo">> {
  const { store, now, newId } = context;
  await assertProject(store, input.project_id);
  const repo = await foundRepo(context, input.path, call);
  const name = input.name === undefined ? repo.name : requiredText("name", input.name).trim();
  const id = newId();
  const setup = setupOf(input.setup);
  const added = await store.board.addRepo({
    id,
    name,
    path: repo.path,
    projectId: input.project_id,
    createdAt: now(),
    copy: input.copy ?? [],
    setup,
  });
  if (!added) {
    throw nameTaken(
      `The project has a repository ${JSON.stringify(name)} already. Give another name, or use that one.`,
    );
  }
  call.hadEffects();
  return wireAddedRepo({ ...repo, id, name }, await noteSetup(context, { path: repo.path, setup }, call));
}

export async function updateRepo(
  context: BoardContext,
  input: Input<"update_repo">,
  call: BoardCall,
): Promise<OperationOutput<"update_repo">> {
  const { store } = context;
  const { repo_id, name, copy, setup } = input;
  const fields = {
    ...(name !== undefined && { name: requiredText("name", name).trim() }),
    ...(copy !== undefined && { copy }),
    ...(setup !== undefined && { setup: setupOf(setup) }),
  };
  const outcome = await store.board.changeRepo(repo_id, fields);
  if (outcome === "taken") {
    throw nameTaken(`The project has a repository ${JSON.stringify(fields.name)} already. Give another name.`);
  }
  const [repo] = await store.board.repos([repo_id]);
  if (outcome === "gone" || repo === undefined) throw notFound("repo", repo_id);
  if (setup !== undefined) await noteSetup(context, repo, call);
  return { repo_id, name: repo.name, copy: repo.copy, setup: repo.setup };
}

export async function removeRepo(
  { store }: BoardContext,
  { repo_id }: Input<"remove_repo">,
): Promise<OperationOutput<"remove_repo">> {
  const outcome = await store.board.removeRepo(repo_id);
  if (outcome === "done") return { removed_repo_id: repo_id };
  if (outcome === "gone") throw notFound("repo", repo_id);
  const message = `Attempts work on repo ${repo_id}. Remove them first: list_attempts shows them, remove_attempt removes one.`;
  throw new AsyncAgentsError("not_empty", message, { details: { repo_id } });
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
  context: BoardContext,
  { path, repo_id }: Input<"find_repo">,
  call: BoardCall,
): Promise<OperationOutput<"find_repo">> {
  const { store } = context;
  if (path !== undefined && repo_id !== undefined) {
    const message = "path and repo_id exclude each other. Give one of them.";
    throw new AsyncAgentsError("invalid_input", message, { details: { field: "path" } });
  }
  const repo =
    repo_id === undefined
      ? await repoAround(context, requiredText("path", path))
      : ((await store.board.repos([repo_id]))[0] ?? null);
  if (repo === null) {
    const nothing = { project_id: null, repo_id: null, name: null, path: null, current_branch: null };
    return { ...nothing, copy: [], setup: null, setup_approval: null };
  }
  return {
    project_id: repo.projectId,
    repo_id: repo.id,
    name: repo.name,
    copy: repo.copy,
    setup: repo.setup,
    setup_approval: (await setupApproval(context, repo))?.state ?? null,
    path: repo.path,
    current_branch: await branchAt(context, repo.path, call),
  };
}

/**
 * The repository of the board whose checkout a folder is in. Whoever may read may ask about any path: nothing that is
 * not on the board is told apart, and git runs in none of it.
 */
async function repoAround({ store }: BoardContext, path: string): Promise<BoardRepo | null> {
  const real = realOf(path);
  const repo = real === null ? null : await store.board.repoAt(pathsUpFrom(real));
  if (real === null || repo === null) return null;
  const between = pathsUpFrom(real).filter((each) => each.length > repo.path.length);
  // A checkout within that one is another repository.
  return between.some((each) => existsSync(join(each, ".git"))) ? null : repo;
}

/**
 * A repository whose folder is gone is still listed, so that it can be removed. One whose `.git` leads elsewhere by now
 * has no branch for those who may not use that.
 */
async function branchAt(context: BoardContext, path: string, call: BoardCall): Promise<string | null> {
  try {
    const repo = await inspectRepo(path);
    return (await isRepoAllowed(context, repo, call)) ? repo.currentBranch : null;
  } catch (thrown) {
    if (AsyncAgentsError.isInstance(thrown) && thrown.code === "repo_invalid") return null;
    throw thrown;
  }
}

interface FoundRepo {
  /** Its top-level folder, with links resolved. */
  path: string;
  /** The folder's name. */
  name: string;
  currentBranch: string | null;
}

/**
 * Git reads the folder's configuration, so a model's folder must be approved before git runs there, and so must all
 * folders of its repository.
 */
async function foundRepo(context: BoardContext, given: string, call: BoardCall): Promise<FoundRepo> {
  const real = realOf(given);
  if (real !== null) await assertDirectory(context, real, call);
  const repo = await inspectRepo(real ?? given);
  await assertRepo(context, repo, call);
  const path = realpathSync(repo.root);
  return { path, name: basename(path).slice(0, 100), currentBranch: repo.currentBranch };
}

function wireAddedRepo({ id, name, currentBranch }: FoundRepo & { id: string }, approval: Approval | null) {
  return { repo_id: id, name, current_branch: currentBranch, approval_id: approval?.id ?? null };
}

function setupOf(given: string | undefined): string | null {
  return given?.trim() ? given : null;
}

export async function assertProject(store: BoardContext["store"], id: string): Promise<void> {
  if ((await store.board.project(id)) === null) throw notFound("project", id);
}

function nameTaken(message: string): AsyncAgentsError {
  return new AsyncAgentsError("name_taken", message, { details: { field: "name" } });
}
