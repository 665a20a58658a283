/** The board's records on a database: puts the nouns' queries together, each write in a transaction. Holds no SQL of its own. */
import type { Kysely } from "kysely";
import { addAttempt, addSession, changeAttempt, removeAttempt } from "./board-attempt-writes.ts";
import {
  readAttempt,
  readAttemptAt,
  readAttempts,
  readSession,
  readSessionOfTask,
  readStartingAttempts,
} from "./board-attempts.ts";
import { cancelFollowUps, queueFollowUp, readQueue, readQueuedSessions, refuseFollowUp } from "./board-follow-ups.ts";
import {
  addProject,
  addRepo,
  readProject,
  readProjects,
  readRepoAt,
  readRepos,
  readReposOf,
  removeProject,
} from "./board-projects.ts";
import type { BoardRecords } from "./board-records.ts";
import { answerRequest, claimRequest, dropRequest, pruneRequests } from "./board-requests.ts";
import { addWorkItem, changeWorkItem, readWorkItem, readWorkItems, removeWorkItem } from "./board-work-items.ts";
import type { Schema } from "./schema.ts";

type Run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

export function boardRecords({ read, write }: { read: Run; write: Run }): BoardRecords {
  return {
    addProject: (project) => write((kysely) => addProject(kysely, project)),
    project: (id) => read((kysely) => readProject(kysely, id)),
    projects: (page) => read((kysely) => readProjects(kysely, page)),
    removeProject: (id) => write((kysely) => removeProject(kysely, id)),
    addRepo: (repo) => write((kysely) => addRepo(kysely, repo)),
    repos: (ids) => read((kysely) => readRepos(kysely, ids)),
    repoAt: (path) => read((kysely) => readRepoAt(kysely, path)),
    reposOf: (projectId, page) => read((kysely) => readReposOf(kysely, projectId, page)),

    addWorkItem: (item) => write((kysely) => addWorkItem(kysely, item)),
    workItem: (id) => read((kysely) => readWorkItem(kysely, id)),
    workItems: (projectId, status, page) => read((kysely) => readWorkItems(kysely, projectId, status, page)),
    changeWorkItem: (id, fields, at) => write((kysely) => changeWorkItem(kysely, id, fields, at)),
    removeWorkItem: (id) => write((kysely) => removeWorkItem(kysely, id)),

    addAttempt: (attempt, repos) => write((kysely) => addAttempt(kysely, attempt, repos)),
    attempt: (id) => read((kysely) => readAttempt(kysely, id)),
    attempts: (workItemId, page) => read((kysely) => readAttempts(kysely, workItemId, page)),
    startingAttempts: () => read(readStartingAttempts),
    changeAttempt: (id, fields, at) => write((kysely) => changeAttempt(kysely, id, fields, at)),
    removeAttempt: (id) => write((kysely) => removeAttempt(kysely, id)),
    attemptAt: (paths) => read((kysely) => readAttemptAt(kysely, paths)),
    addSession: (session) => write((kysely) => addSession(kysely, session)),
    session: (id) => read((kysely) => readSession(kysely, id)),
    sessionOfTask: (taskId) => read((kysely) => readSessionOfTask(kysely, taskId)),

    queueFollowUp: (followUp) => write((kysely) => queueFollowUp(kysely, followUp)),
    queue: (sessionId) => read((kysely) => readQueue(kysely, sessionId)),
    cancelFollowUps: (sessionId) => write((kysely) => cancelFollowUps(kysely, sessionId)),
    refuseFollowUp: (sessionId, id, error) => write((kysely) => refuseFollowUp(kysely, sessionId, id, error)),
    queuedSessions: () => read(readQueuedSessions),

    claimRequest: (operation, requestId, inputHash, at) =>
      write((kysely) => claimRequest(kysely, { operation, requestId, inputHash, at })),
    answerRequest: (operation, requestId, answer) =>
      write((kysely) => answerRequest(kysely, operation, requestId, answer)),
    dropRequest: (operation, requestId) => write((kysely) => dropRequest(kysely, operation, requestId)),
    pruneRequests: (before) => write((kysely) => pruneRequests(kysely, before)),
  };
}
