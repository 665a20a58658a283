/**
 * Where each operation is reached over HTTP. Methods and paths are a contract. Without zod, since the client runs on it;
 * what is sent and answered there is in the table of `operations.ts`, under the same names.
 */

export interface Address {
  method: "GET" | "POST";
  /** With `:id` where an id stands. */
  path: string;
  /** How the input travels; null where there is none. */
  sends: "query" | "body" | null;
}

/** The status API: REST. These names are also those of the client's methods. */
export const STATUS_ADDRESSES = {
  /** The tasks of all processes, newest first. */
  tasks: { method: "GET", path: "/v1/tasks", sends: "query" },
  /** One task, with its whole prompt and result. */
  task: { method: "GET", path: "/v1/tasks/:id", sends: null },
  /** The runs of a task, newest first, at most 200. */
  runs: { method: "GET", path: "/v1/tasks/:id/runs", sends: null },
  /** All messages, or one page of them where `limit` is given. */
  logs: { method: "GET", path: "/v1/tasks/:id/logs", sends: "query" },
  /** The tasks of a batch, with their totals. */
  group: { method: "GET", path: "/v1/task-groups/:id", sends: null },
  /** Counts, durations, tokens and cost of all tasks. */
  stats: { method: "GET", path: "/v1/stats", sends: null },
  /** The last day in 48 steps where nothing is given. */
  history: { method: "GET", path: "/v1/stats/history", sends: "query" },
  /** A snapshot, then every change. */
  events: { method: "GET", path: "/v1/events", sends: null },
  /** Whether the server lives. */
  health: { method: "GET", path: "/v1/health", sends: null },
  /** What keeps the data folder from working; empty when all is well. */
  troubles: { method: "GET", path: "/v1/troubles", sends: null },
  /** Where this server can launch tasks, with the agents there. */
  instances: { method: "GET", path: "/v1/instances", sends: null },
  /** The whole API as an OpenAPI document. */
  openapi: { method: "GET", path: "/v1/openapi.json", sends: null },
  /** The token, only for the server's own page, which has no other way to it. */
  pageToken: { method: "GET", path: "/v1/token", sends: null },
  /** Launches a task. */
  launch: { method: "POST", path: "/v1/tasks", sends: "body" },
  /** Cancels a live task. */
  cancel: { method: "POST", path: "/v1/tasks/:id/cancel", sends: null },
  /** Continues a completed task with a new prompt. */
  resume: { method: "POST", path: "/v1/tasks/:id/resume", sends: "body" },
  /** Launches a task of its own with all that the task's session knows. */
  fork: { method: "POST", path: "/v1/tasks/:id/fork", sends: "body" },
  /** Tells a task's parent again what could not be delivered. */
  tell: { method: "POST", path: "/v1/tasks/:id/tell", sends: null },
  /** Answers what a task waits for. */
  answer: { method: "POST", path: "/v1/tasks/:id/answer", sends: "body" },
} as const satisfies Record<string, Address>;

export type StatusOperationName = keyof typeof STATUS_ADDRESSES;

export function isStatusOperation(name: string): name is StatusOperationName {
  return Object.hasOwn(STATUS_ADDRESSES, name);
}

/** The address of any operation; those of the board have one path each, by their names. */
export function addressOf(name: string): Address {
  if (isStatusOperation(name)) return STATUS_ADDRESSES[name];
  return { method: "POST", path: `/v1/board/${name}`, sends: "body" };
}
