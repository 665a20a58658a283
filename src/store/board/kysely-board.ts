/**
 * The board's records on a database: combines the queries of each noun, with each write in a transaction. Contains no
 * SQL.
 */
import type { Kysely } from "kysely";
import { addSetupNotice } from "../followers/kysely-followers.ts";
import type { Schema } from "../schema.ts";
import {
  hasKnownDirectory,
  putApproval,
  readApproval,
  readApprovals,
  readRequestedBy,
  writeDecision,
} from "./approvals.ts";
import { addAttempt, addSession, changeAttempt, deleteAttempt } from "./attempt-writes.ts";
import {
  readAllAttempts,
  readAttempt,
  readAttemptAt,
  readAttempts,
  readSession,
  readSessionOfTask,
  readStartingAttempts,
} from "./attempts.ts";
import {
  cancelFollowUps,
  queueFollowUp,
  readFollowUps,
  readQueue,
  readQueuedSessions,
  refuseFollowUp,
} from "./follow-ups.ts";
import {
  changeRepo,
  deleteProject,
  deleteRepo,
  insertProject,
  insertRepo,
  readProject,
  readProjects,
  readRepoAt,
  readRepos,
  readReposOf,
} from "./projects.ts";
import type { BoardRecords } from "./records.ts";
import { answerRequest, claimRequest, dropRequest, pruneRequests } from "./requests.ts";
import { raiseBoardVersion, readBoardVersion } from "./version.ts";
import { markMerged, noteConflict } from "./work-item-moves.ts";
import { addWorkItem, changeWorkItem, readWorkItem, readWorkItems, removeWorkItem } from "./work-items.ts";

type Run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

export function kyselyBoard({ read, write }: { read: Run; write: Run }): BoardRecords {
  const change: Run = (work) =>
    write(async (kysely) => {
      const result = await work(kysely);
      await raiseBoardVersion(kysely);
      return result;
    });
  return {
    version: () => read(readBoardVersion),
    addProject: (project, repos) => change((kysely) => insertProject(kysely, project, repos)),
    project: (id) => read((kysely) => readProject(kysely, id)),
    projects: (page) => read((kysely) => readProjects(kysely, page)),
    removeProject: (id) => change((kysely) => deleteProject(kysely, id)),
    addRepo: (repo) => change((kysely) => insertRepo(kysely, repo)),
    changeRepo: (id, fields) => change((kysely) => changeRepo(kysely, id, fields)),
    removeRepo: (id) => change((kysely) => deleteRepo(kysely, id)),
    repos: (ids) => read((kysely) => readRepos(kysely, ids)),
    repoAt: (paths) => read((kysely) => readRepoAt(kysely, paths)),
    reposOf: (projectId, page) => read((kysely) => readReposOf(kysely, projectId, page)),

    addWorkItem: (item) => change((kysely) => addWorkItem(kysely, item)),
    workItem: (id) => read((kysely) => readWorkItem(kysely, id)),
    workItems: (projectId, filter, page) => read((kysely) => readWorkItems(kysely, projectId, filter, page)),
    changeWorkItem: (id, fields, at) => change((kysely) => changeWorkItem(kysely, id, fields, at)),
    removeWorkItem: (id) => change((kysely) => removeWorkItem(kysely, id)),

    addAttempt: (attempt, repos) => change((kysely) => addAttempt(kysely, attempt, repos)),
    attempt: (id) => read((kysely) => readAttempt(kysely, id)),
    attempts: (workItemId, page) => read((kysely) => readAttempts(kysely, workItemId, page)),
    allAttempts: (projectId, page) => read((kysely) => readAllAttempts(kysely, projectId, page)),
    startingAttempts: (machine = "") => read((kysely) => readStartingAttempts(kysely, machine)),
    changeAttempt: (id, fields, at) =>
      change(async (kysely) => {
        await changeAttempt(kysely, id, fields, at);
        if (fields.state === "failed") await addSetupNotice(kysely, id, at);
      }),
    noteConflict: (id, text, at) => change((kysely) => noteConflict(kysely, id, text, at)),
    mergeAttempt: (id, commits, at) => change((kysely) => markMerged(kysely, id, commits, at)),
    removeAttempt: (id) => change((kysely) => deleteAttempt(kysely, id)),
    attemptAt: (paths) => read((kysely) => readAttemptAt(kysely, paths)),
    addSession: (session) => change((kysely) => addSession(kysely, session)),
    session: (id) => read((kysely) => readSession(kysely, id)),
    sessionOfTask: (taskId) => read((kysely) => readSessionOfTask(kysely, taskId)),

    queueFollowUp: (followUp) => change((kysely) => queueFollowUp(kysely, followUp)),
    queue: (sessionId) => read((kysely) => readQueue(kysely, sessionId)),
    followUps: (sessionId, limit) => read((kysely) => readFollowUps(kysely, sessionId, limit)),
    cancelFollowUps: (sessionId) => change((kysely) => cancelFollowUps(kysely, sessionId)),
    refuseFollowUp: (sessionId, id, error) => change((kysely) => refuseFollowUp(kysely, sessionId, id, error)),
    queuedSessions: () => read(readQueuedSessions),

    approval: (kind, subject) => read((kysely) => readApproval(kysely, kind, subject)),
    approvals: (state, page) => read((kysely) => readApprovals(kysely, state, page)),
    requestedBy: () => read(readRequestedBy),
    putApproval: (approval) => change((kysely) => putApproval(kysely, approval)),
    decideApproval: (id, decision) => change((kysely) => writeDecision(kysely, id, decision)),
    hasKnownDirectory: (paths) => read((kysely) => hasKnownDirectory(kysely, paths)),

    claimRequest: (operation, requestId, inputHash, at) =>
      write((kysely) => claimRequest(kysely, { operation, requestId, inputHash, at })),
    answerRequest: (operation, requestId, answer) =>
      write((kysely) => answerRequest(kysely, operation, requestId, answer)),
    dropRequest: (operation, requestId) => write((kysely) => dropRequest(kysely, operation, requestId)),
    pruneRequests: (before) => write((kysely) => pruneRequests(kysely, before)),
  };
}
