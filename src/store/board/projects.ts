/**
 * Projects and their repositories. Names are unique: among all projects, and among the repos of one. Does not access
 * the disk.
 */
import type { Kysely } from "kysely";
import type { BoardRepo, Project } from "../../model/board.ts";
import { RolledBack } from "../rollback.ts";
import type { RowOf, Schema } from "../schema.ts";
import { lock } from "../sql/lock.ts";
import { afterKey, pageLimit } from "./pages.ts";
import type { BoardPage, BoardRecords } from "./records.ts";

const PROJECT = ["id", "name", "created_at", "updated_at"] as const;
const REPO = ["id", "project_id", "name", "path", "copy", "setup", "created_at"] as const;
const MOST_IDS = 50;

export async function insertProject(
  kysely: Kysely<Schema>,
  project: Project,
  repos: readonly BoardRepo[] = [],
): Promise<boolean> {
  const { id, name, createdAt, updatedAt } = project;
  const added = await kysely
    .insertInto("projects")
    .values({ id, name, created_at: createdAt, updated_at: updatedAt })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (added === undefined) return false;
  for (const repo of repos) if (!(await insertRepo(kysely, repo))) throw new RolledBack(false);
  return true;
}

export async function readProject(kysely: Kysely<Schema>, id: string): Promise<Project | null> {
  const row = await kysely.selectFrom("projects").select(PROJECT).where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : projectOf(row);
}

export async function readProjects(kysely: Kysely<Schema>, page: BoardPage): Promise<Project[]> {
  let rows = kysely.selectFrom("projects").select(PROJECT);
  for (const condition of afterKey("projects", page, "oldest")) rows = rows.where(condition);
  return (await rows.orderBy("created_at").orderBy("id").limit(pageLimit(page)).execute()).map(projectOf);
}

export async function deleteProject(kysely: Kysely<Schema>, id: string): Promise<boolean> {
  await lock(kysely, "project", id);
  const item = await kysely
    .selectFrom("work_items")
    .select("id")
    .where("project_id", "=", id)
    .limit(1)
    .executeTakeFirst();
  if (item !== undefined) return false;
  await kysely.deleteFrom("repos").where("project_id", "=", id).execute();
  await kysely.deleteFrom("projects").where("id", "=", id).execute();
  return true;
}

export async function insertRepo(kysely: Kysely<Schema>, repo: BoardRepo): Promise<boolean> {
  const added = await kysely
    .insertInto("repos")
    .values({
      id: repo.id,
      project_id: repo.projectId,
      name: repo.name,
      path: repo.path,
      copy: JSON.stringify(repo.copy),
      setup: repo.setup,
      created_at: repo.createdAt,
    })
    .onConflict((conflict) => conflict.columns(["project_id", "name"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  return added !== undefined;
}

export async function changeRepo(
  kysely: Kysely<Schema>,
  id: string,
  { name, copy, setup }: Parameters<BoardRecords["changeRepo"]>[1],
): ReturnType<BoardRecords["changeRepo"]> {
  await lock(kysely, "repo", id);
  const [repo] = await readRepos(kysely, [id]);
  if (repo === undefined) return "gone";
  const next = { name: name ?? repo.name, copy: JSON.stringify(copy ?? repo.copy) };
  const other = await kysely
    .selectFrom("repos")
    .select("id")
    .where("project_id", "=", repo.projectId)
    .where("name", "=", next.name)
    .where("id", "!=", id)
    .executeTakeFirst();
  if (other !== undefined) return "taken";
  const changed = setup === undefined ? next : { ...next, setup };
  await kysely.updateTable("repos").set(changed).where("id", "=", id).execute();
  return "done";
}

export async function deleteRepo(kysely: Kysely<Schema>, id: string): ReturnType<BoardRecords["removeRepo"]> {
  await lock(kysely, "repo", id);
  const used = await kysely
    .selectFrom("attempt_repos")
    .select("attempt_id")
    .where("repo_id", "=", id)
    .limit(1)
    .executeTakeFirst();
  if (used !== undefined) return "used";
  const gone = await kysely.deleteFrom("repos").where("id", "=", id).returning("id").executeTakeFirst();
  return gone === undefined ? "gone" : "done";
}

export async function readRepos(kysely: Kysely<Schema>, ids: readonly string[]): Promise<BoardRepo[]> {
  if (ids.length === 0) return [];
  const rows = await kysely.selectFrom("repos").select(REPO).where("id", "in", ids.slice(0, MOST_IDS)).execute();
  return rows.map(repoOf);
}

export async function readRepoAt(kysely: Kysely<Schema>, paths: readonly string[]): Promise<BoardRepo | null> {
  if (paths.length === 0) return null;
  const repos = kysely.selectFrom("repos").select(REPO).where("path", "in", paths);
  const deepest = repos.orderBy(({ fn }) => fn("length", ["path"]), "desc");
  const row = await deepest.orderBy("created_at").orderBy("id").limit(1).executeTakeFirst();
  return row === undefined ? null : repoOf(row);
}

export async function readReposOf(kysely: Kysely<Schema>, projectId: string, page: BoardPage): Promise<BoardRepo[]> {
  let rows = kysely.selectFrom("repos").select(REPO).where("project_id", "=", projectId);
  for (const condition of afterKey("repos", page, "oldest")) rows = rows.where(condition);
  return (await rows.orderBy("created_at").orderBy("id").limit(pageLimit(page)).execute()).map(repoOf);
}

function projectOf(row: RowOf<"projects">): Project {
  return { id: row.id, name: row.name, createdAt: row.created_at, updatedAt: row.updated_at };
}

function repoOf(row: RowOf<"repos">): BoardRepo {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    path: row.path,
    copy: JSON.parse(row.copy),
    setup: row.setup,
    createdAt: row.created_at,
  };
}
