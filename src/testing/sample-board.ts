/**
 * Projects, work items and attempts for tests, with defaults for irrelevant fields. Also works outside the test runner.
 */
import type { Attempt, BoardRepo, BoardSession, Project, WorkItem } from "../model/board.ts";
import type { Store } from "../store/store.ts";

export function sampleProject(id: string, fields: Partial<Project> = {}): Project {
  return { id, name: `Project ${id}`, createdAt: 1, updatedAt: 1, ...fields };
}

export function sampleRepo(id: string, fields: Partial<BoardRepo> = {}): BoardRepo {
  return { id, projectId: "p", name: `repo ${id}`, path: `/${id}`, copy: [], setup: null, createdAt: 1, ...fields };
}

export function sampleItem(id: string, fields: Partial<WorkItem> = {}): WorkItem {
  const item = { id, projectId: "p", title: `Item ${id}`, description: null, createdAt: 1, updatedAt: 1 };
  return { ...item, status: "todo", ...fields };
}

export function sampleAttempt(id: string, fields: Partial<Attempt> = {}): Attempt {
  return {
    id,
    workItemId: "w",
    host: "scripted",
    variant: null,
    branch: `branch-${id}`,
    state: "starting",
    error: null,
    folder: null,
    machine: "",
    createdAt: 1,
    updatedAt: 1,
    ...fields,
  };
}

export function sampleSession(id: string, fields: Partial<BoardSession> = {}): BoardSession {
  return { id, attemptId: "a", taskId: `task-${id}`, host: "scripted", createdAt: 1, ...fields };
}

/** A project `p` with the repo `r`, the work item `w`, and its attempt `a` in that repo. */
export async function fillBoard({ board }: Store): Promise<void> {
  await board.addProject(sampleProject("p"));
  await board.addRepo(sampleRepo("r"));
  await board.addWorkItem(sampleItem("w"));
  await board.addAttempt(sampleAttempt("a"), [{ repoId: "r", targetBranch: "main" }]);
}
