/**
 * The HTTP address of each operation. Methods and paths are a contract. This file has no zod in it, because the
 * client needs it at run time; what is sent and answered there is in `operations.ts`, under the same names.
 */

export interface Address {
  method: "GET" | "POST";
  /** With `:id` in place of the id. */
  path: string;
  /** How the input is sent; null if there is none. */
  sends: "query" | "body" | null;
}

/** The REST routes of the status API. Their names are also those of the client's methods. */
export const STATUS_ADDRESSES = {
  /** The tasks of all processes, newest first. */
  tasks: { method: "GET", path: "/v1/tasks", sends: "query" },
  /** All tasks that match at one moment, by id. */
  selection: { method: "GET", path: "/v1/selection", sends: "query" },
  /** One task, with its prompt and result in full. */
  task: { method: "GET", path: "/v1/tasks/:id", sends: null },
  /** The runs of a task, newest first, at most 200. */
  runs: { method: "GET", path: "/v1/tasks/:id/runs", sends: null },
  /** All messages, or one page of them if `limit` is given. */
  logs: { method: "GET", path: "/v1/tasks/:id/logs", sends: "query" },
  /** The tasks of a batch, with their totals. */
  group: { method: "GET", path: "/v1/task-groups/:id", sends: null },
  /** What the runs of a task or a batch spent their time on. */
  spans: { method: "GET", path: "/v1/spans", sends: "query" },
  /** Counts, durations, tokens and cost of all tasks. */
  stats: { method: "GET", path: "/v1/stats", sends: null },
  /** Tasks over time; the last day in 48 steps by default. */
  history: { method: "GET", path: "/v1/stats/history", sends: "query" },
  /** Tokens and cost over time, by model; the last seven days by default. */
  usage: { method: "GET", path: "/v1/stats/usage", sends: "query" },
  /** A snapshot, then every change. */
  events: { method: "GET", path: "/v1/events", sends: "query" },
  /** What needs a person, oldest first. */
  inbox: { method: "GET", path: "/v1/inbox", sends: "query" },
  /** Whether the server is alive. */
  health: { method: "GET", path: "/v1/health", sends: null },
  /** Problems with the data folder; empty if there are none. */
  troubles: { method: "GET", path: "/v1/troubles", sends: null },
  /** Where this server can launch tasks, with the agents there. */
  instances: { method: "GET", path: "/v1/instances", sends: null },
  /** The runners of all machines, newest first, at most 1,000. */
  runners: { method: "GET", path: "/v1/runners", sends: null },
  /** Where notifications go, and what was sent, newest first. */
  notifications: { method: "GET", path: "/v1/notifications", sends: "query" },
  /** Sends a test to a channel. */
  testNotification: { method: "POST", path: "/v1/notifications/test", sends: "body" },
  /** Tries a failed notification again. */
  retryNotification: { method: "POST", path: "/v1/notifications/:id/retry", sends: null },
  /** The public key for Web Push. */
  pushKey: { method: "GET", path: "/v1/push/key", sends: null },
  /** Sends notifications to a browser. */
  subscribePush: { method: "POST", path: "/v1/push/subscribe", sends: "body" },
  /** Sends it no more of them. */
  unsubscribePush: { method: "POST", path: "/v1/push/unsubscribe", sends: "body" },
  /** The whole API as an OpenAPI document. */
  openapi: { method: "GET", path: "/v1/openapi.json", sends: null },
  /** Who the caller is to this server, and what the caller may do. */
  caller: { method: "GET", path: "/v1/caller", sends: null },
  /** Who changed what, newest first. */
  audit: { method: "GET", path: "/v1/audit", sends: "query" },
  /** The token, for the server's own page only, which cannot get it otherwise. */
  pageToken: { method: "GET", path: "/v1/token", sends: null },
  /** Launches a task. */
  launch: { method: "POST", path: "/v1/tasks", sends: "body" },
  /** Changes a task that waits to start. */
  edit: { method: "POST", path: "/v1/tasks/:id/edit", sends: "body" },
  /** Cancels a live task. */
  cancel: { method: "POST", path: "/v1/tasks/:id/cancel", sends: null },
  /** Removes an ended task for good. */
  remove: { method: "POST", path: "/v1/tasks/:id/remove", sends: null },
  /** What opens a task's session in the agent's own program. */
  attach: { method: "POST", path: "/v1/tasks/:id/attach", sends: null },
  /** Continues a completed task with a new prompt. */
  resume: { method: "POST", path: "/v1/tasks/:id/resume", sends: "body" },
  /** Launches a new task with the history of one that has ended. */
  fork: { method: "POST", path: "/v1/tasks/:id/fork", sends: "body" },
  /** Notifies a task's parent again of what could not be delivered. */
  tell: { method: "POST", path: "/v1/tasks/:id/tell", sends: null },
  /** Answers what a task waits for. */
  answer: { method: "POST", path: "/v1/tasks/:id/answer", sends: "body" },
  /** Records that a person was shown what a task waits for. */
  seen: { method: "POST", path: "/v1/tasks/:id/seen", sends: "body" },
  /** Records that a person has read how a task ended. */
  read: { method: "POST", path: "/v1/tasks/:id/read", sends: null },
  /** Sends a message into a running task. */
  steer: { method: "POST", path: "/v1/tasks/:id/steer", sends: "body" },
  /** The messages that were sent into a task's runs. */
  steering: { method: "GET", path: "/v1/tasks/:id/steering", sends: null },
  /** Cancels such a message that was not sent yet. */
  cancelSteering: { method: "POST", path: "/v1/steering/:id/cancel", sends: null },
  /** What may be used and is used. */
  budgets: { method: "GET", path: "/v1/budgets", sends: "query" },
  /** Sets limits; an agent can only lower them. */
  setBudget: { method: "POST", path: "/v1/budgets/:id", sends: "body" },
} as const satisfies Record<string, Address>;

export type StatusOperationName = keyof typeof STATUS_ADDRESSES;

export function isStatusOperation(name: string): name is StatusOperationName {
  return Object.hasOwn(STATUS_ADDRESSES, name);
}

/** The address of any operation. The board's operations have one path each, by name. */
export function addressOf(name: string): Address {
  if (isStatusOperation(name)) return STATUS_ADDRESSES[name];
  return { method: "POST", path: `/v1/board/${name}`, sends: "body" };
}
