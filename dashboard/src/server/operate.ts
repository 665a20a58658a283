/**
 * The board's operations as the page calls them: all with the token, because all of them are POST. Types only: the
 * schemas stay on the server.
 */
import type { BoardOperationName, CallOperation, OperationOutput } from "../../../src/protocol/operations.ts";
import { control } from "./page-client.ts";

export const operate: CallOperation = (name, input, options) =>
  control((client) => client.operate(name, input, options));

export type Answer<Name extends BoardOperationName> = OperationOutput<Name>;
export type Project = Answer<"list_projects">["projects"][number];
export type Repo = Answer<"list_repos">["repos"][number];
export type ItemRow = Answer<"list_tasks">["tasks"][number];
export type ItemPage = Answer<"list_tasks">;
export type Item = Answer<"get_task">["task"];
export type ItemStatus = ItemRow["status"];
export type AttemptRow = Answer<"list_task_attempts">["attempts"][number];
export type Attempt = Answer<"get_attempt">;
export type AttemptState = Attempt["state"];
export type RepoDiff = Answer<"get_attempt_diff">["repos"][number];
export type Approval = Answer<"list_approvals">["approvals"][number];
export type Executor = Answer<"list_executors">["executors"][number];
