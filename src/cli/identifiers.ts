/**
 * Resolves what a person types to an id: a full id, a unique prefix of it or of its displayed form, the end of a
 * task's id, or a project's name. Reads a bounded part of the lists; an ambiguous text is rejected with the
 * candidates.
 */
import type { Client } from "../client/client.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import type { OperationOutput } from "../protocol/operations.ts";
import type { BackgroundTask } from "../protocol/tasks.ts";
import { oneLine, shortId } from "./terminal/text.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** The beginning of a UUID that is long enough to be meant as one. */
const BOARD_ID = /^[0-9a-f]{4}[0-9a-f-]*$/i;
const MIN_END = 4;
const PAGE = 200;
const MAX_PAGES = 25;
const SHOWN = 5;

type ProjectEntry = OperationOutput<"list_projects">["projects"][number];
export type ItemEntry = OperationOutput<"list_tasks">["tasks"][number];
type RepoEntry = OperationOutput<"list_repos">["repos"][number];

export type AttemptEntry = OperationOutput<"list_attempts">["attempts"][number];

interface Candidate {
  id: string;
  name: string;
}

export async function resolveTask(client: Client, given: string): Promise<BackgroundTask> {
  assertNoOtherBudget(given);
  // A task's budget is called by that name.
  const typed = given.replace(/^task:/, "").replace(/^…/, "");
  const begins = typed === "" ? [] : (await client.tasks({ id: typed, limit: SHOWN + 1 })).tasks;
  const exact = begins.find(({ id }) => id === typed);
  if (exact) return client.task(exact.id);
  const shown = await tasksShownAs(client, typed);
  const same = shown.filter(({ id }) => shortId(id) === typed);
  const found = same.length > 0 ? same : uniqueTasks([...begins, ...shown]);
  if (found.length === 0) await assertNotOnBoard(client, typed);
  const id = oneOf(
    "task",
    given,
    found.map((task) => ({ id: task.id, name: task.description })),
    "asyncagents ls",
  );
  return client.task(id);
}

function assertNoOtherBudget(given: string): void {
  if (!/^(batch|session):/.test(given)) return;
  const id = given.slice(0, 100);
  const message = `"${id}" is a budget, not a task. To raise it: asyncagents budget set ${id} '$5 2h'`;
  throw new AsyncAgentsError("task_not_found", message);
}

/** The ids of several tasks. */
export async function resolveTasks(client: Client, given: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const each of given) ids.push((await resolveTask(client, each)).id);
  return ids;
}

/** Whoever gives an attempt or an item to a command for tasks is told which commands take it. */
async function assertNotOnBoard(client: Client, typed: string): Promise<void> {
  if (!BOARD_ID.test(typed)) return;
  const begins = (id: string) => id.startsWith(typed.toLowerCase());
  // An agent's command may not list everything; to it, the id is simply unknown.
  const attempts = await allAttempts(client).catch(() => []);
  const attempt = attempts.find(({ attempt_id }) => begins(attempt_id));
  if (attempt) {
    const id = shortId(attempt.attempt_id);
    const message = `"${typed}" is an attempt, not a task. For attempts: asyncagents attempt show ${id} · logs · wait · answer · follow · stop`;
    throw new AsyncAgentsError("task_not_found", message);
  }
  const items = await allItems(client).catch(() => []);
  const item = items.find(({ id }) => begins(id));
  if (item) {
    const message = `"${typed}" is an item of the board, not a task. Its attempts: asyncagents attempt ls ${shortId(item.id)}`;
    throw new AsyncAgentsError("task_not_found", message);
  }
}

/** Those whose displayed id starts or ends with this text. */
async function tasksShownAs(client: Client, typed: string): Promise<BackgroundTask[]> {
  if (typed === "" || /\s/.test(typed)) return [];
  const { tasks } = await client.tasks({ search: typed, limit: PAGE });
  return tasks.filter(({ id }) => shortId(id).startsWith(typed) || (typed.length >= MIN_END && id.endsWith(typed)));
}

function uniqueTasks(tasks: readonly BackgroundTask[]): BackgroundTask[] {
  return [...new Map(tasks.map((task) => [task.id, task])).values()];
}

export async function resolveProject(client: Client, given: string): Promise<ProjectEntry> {
  const projects = await allProjects(client);
  const named = projects.find(({ id, name }) => id === given || name === given);
  if (named) return named;
  const id = oneOf("project", given, projects.filter(begins(given)), "asyncagents project ls");
  return projects.find((project) => project.id === id) as ProjectEntry;
}

export async function resolveRepo(client: Client, projectId: string, given: string): Promise<RepoEntry> {
  const repos = await allRepos(client, projectId);
  const named = repos.find(({ id, name }) => id === given || name === given);
  if (named) return named;
  const id = oneOf(
    "repository",
    given,
    repos.filter(begins(given)),
    `asyncagents project repo ls ${shortId(projectId)}`,
  );
  return repos.find((repo) => repo.id === id) as RepoEntry;
}

export async function resolveItem(client: Client, given: string): Promise<string> {
  if (UUID.test(given)) return given.toLowerCase();
  const items = await allItems(client);
  return oneOf("item", given, items.filter(begins(given)).map(titled), "asyncagents item ls");
}

export async function resolveAttempt(client: Client, given: string): Promise<string> {
  if (UUID.test(given)) return given.toLowerCase();
  const attempts = (await allAttempts(client)).map((each) => ({ id: each.attempt_id, name: each.task_title }));
  return oneOf("attempt", given, attempts.filter(begins(given)), "asyncagents attempt ls");
}

export async function allAttempts(client: Client, projectId?: string): Promise<AttemptEntry[]> {
  return allPages(async (cursor) => {
    const input = { limit: PAGE, ...(projectId === undefined ? {} : { project_id: projectId }), ...cursor };
    const { attempts, next_cursor } = await client.operate("list_attempts", input);
    return { rows: attempts, next_cursor };
  });
}

export async function allProjects(client: Client): Promise<ProjectEntry[]> {
  return allPages(async (cursor) => {
    const { projects, next_cursor } = await client.operate("list_projects", { limit: PAGE, ...cursor });
    return { rows: projects, next_cursor };
  });
}

export async function allRepos(client: Client, projectId: string): Promise<RepoEntry[]> {
  return allPages(async (cursor) => {
    const input = { project_id: projectId, limit: PAGE, ...cursor };
    const { repos, next_cursor } = await client.operate("list_repos", input);
    return { rows: repos, next_cursor };
  });
}

export async function projectItems(
  client: Client,
  projectId: string,
  status?: ItemEntry["status"],
): Promise<ItemEntry[]> {
  return allPages(async (cursor) => {
    const input = { project_id: projectId, limit: PAGE, ...(status ? { status } : {}), ...cursor };
    const { tasks, next_cursor } = await client.operate("list_tasks", input);
    return { rows: tasks, next_cursor };
  });
}

async function allItems(client: Client): Promise<ItemEntry[]> {
  const projects = await allProjects(client);
  return (await Promise.all(projects.map(({ id }) => projectItems(client, id)))).flat();
}

async function allPages<Row>(
  read: (cursor: { cursor?: string }) => Promise<{ rows: Row[]; next_cursor: string | null }>,
): Promise<Row[]> {
  const all: Row[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { rows, next_cursor }: { rows: Row[]; next_cursor: string | null } = await read(
      cursor === null ? {} : { cursor },
    );
    all.push(...rows);
    cursor = next_cursor;
    if (cursor === null) break;
  }
  return all;
}

function begins(given: string): (candidate: { id: string }) => boolean {
  const typed = given.toLowerCase();
  return ({ id }) => typed !== "" && id.startsWith(typed);
}

function titled({ id, title }: ItemEntry): Candidate {
  return { id, name: title };
}

function oneOf(what: string, given: string, found: readonly Candidate[], list: string): string {
  const [first, second] = found;
  if (first && !second) return first.id;
  const typed = given.slice(0, 100);
  if (!first) {
    const code = what === "task" ? "task_not_found" : "not_found";
    throw new AsyncAgentsError(code, `There is no ${what} "${typed}". See: ${list}`);
  }
  const some = found.slice(0, SHOWN).map(({ id, name }) => `${id} (${oneLine(name).slice(0, 40)})`);
  const more = found.length > SHOWN ? ", …" : "";
  throw new AsyncAgentsError(
    "task_ambiguous",
    `"${typed}" matches several: ${some.join(", ")}${more}. Give more of the id.`,
  );
}
