/**
 * The status API's typed client, for Node 20, Bun and browsers: no dependency, nothing of Bun or Node. One method per
 * operation; failures are AsyncAgentsError with the server's code. `events` reconnects by itself and says so.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { type CallOrigin, originHeaders } from "../protocol/call-origin.ts";
import type { LogMessage } from "../protocol/conversations.ts";
import type { CallOperation } from "../protocol/operations.ts";
import type { Health, ServerInstance, ServerTrouble } from "../protocol/server.ts";
import type { History, Stats, TaskGroup } from "../protocol/statistics.ts";
import type {
  AnswerBody,
  BackgroundTask,
  ForkBody,
  LaunchBody,
  TaskList,
  TaskRun,
  TaskStatus,
} from "../protocol/tasks.ts";
import type { Fetch, StreamEvent, StreamOptions } from "./event-stream.ts";
import { streamEvents } from "./event-stream.ts";
import { failureOf } from "./failure.ts";

export interface ClientOptions {
  /** Where the server is, as in server.json; in a page: its own origin. */
  url: string;
  /** The token in server.json. Changing things needs it; so does reading, unless the server can tell that the caller is its user. */
  token?: string;
  /** Who calls, where that is not a person. */
  origin?: CallOrigin;
  fetch?: Fetch;
}

export interface ListQuery {
  status?: readonly TaskStatus[];
  /** The beginning of the task's id. */
  id?: string;
  agent?: string;
  /** Part of the description, without regard to case. */
  search?: string;
  parent?: string;
  group?: string;
  limit?: number;
  offset?: number;
}

export interface LogPage {
  /** Oldest first. */
  messages: LogMessage[];
  /** Give it as `before` to read what came before; null at the beginning. */
  before: string | null;
}

type Query = Record<string, string | number | undefined>;

interface Call {
  method?: "GET" | "POST";
  query?: Query;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

export interface Client {
  tasks(query?: ListQuery, signal?: AbortSignal): Promise<TaskList>;
  task(id: string, signal?: AbortSignal): Promise<BackgroundTask>;
  /** Newest first, at most 200. */
  runs(id: string, signal?: AbortSignal): Promise<TaskRun[]>;
  /** All messages, or one page of them where `limit` is given. */
  logs(id: string, page?: { limit?: number; before?: string }, signal?: AbortSignal): Promise<LogPage>;
  group(id: string, signal?: AbortSignal): Promise<TaskGroup>;
  stats(signal?: AbortSignal): Promise<Stats>;
  /** The last day in 48 steps where nothing is given. */
  history(query?: { from?: string; to?: string; buckets?: number }, signal?: AbortSignal): Promise<History>;
  health(signal?: AbortSignal): Promise<Health>;
  /** What keeps the data folder from working; empty when all is well. */
  troubles(signal?: AbortSignal): Promise<ServerTrouble[]>;
  /** Where this server can launch tasks, with the agents there. */
  instances(signal?: AbortSignal): Promise<ServerInstance[]>;
  /** A snapshot, then every change, for as long as it is read; reconnects by itself. */
  events(options?: StreamOptions): AsyncGenerator<StreamEvent, void>;

  launch(body: LaunchBody): Promise<BackgroundTask>;
  cancel(id: string): Promise<BackgroundTask>;
  resume(id: string, prompt: string): Promise<BackgroundTask>;
  /** A task of its own with all that the task's session knows. */
  fork(id: string, body: ForkBody): Promise<BackgroundTask>;
  /** Tells a task's parent again what could not be delivered. */
  tell(id: string): Promise<BackgroundTask>;
  /** Answers what a task waits for. */
  answer(id: string, body: AnswerBody): Promise<BackgroundTask>;
  /** Does an operation of the board, in the daemon. */
  operate: CallOperation;
  /** Only for the server's own page, which has no other way to it. */
  pageToken(): Promise<string>;
}

export function createClient(options: ClientOptions): Client {
  const base = options.url.replace(/\/+$/, "");
  const fetcher = withToken(options.fetch ?? ((input, init) => fetch(input, init)), options.token);
  const request = async (path: string, call: Call = {}): Promise<Response> => {
    const response = await send(fetcher, `${base}${path}${searchOf(call.query)}`, call, options.origin);
    if (!response.ok) throw await failureOf(response);
    return response;
  };
  const json = async <T>(path: string, call?: Call) => (await (await request(path, call)).json()) as T;
  const task = (id: string, tail = "") => `/v1/tasks/${encodeURIComponent(id)}${tail}`;
  const signalled = (signal?: AbortSignal): Call => ({ signal });

  return {
    tasks: ({ status, ...rest } = {}, signal) =>
      json("/v1/tasks", { query: { ...rest, status: status?.length ? status.join(",") : undefined }, signal }),
    task: (id, signal) => json(task(id), signalled(signal)),
    runs: (id, signal) => json(task(id, "/runs"), signalled(signal)),
    async logs(id, page = {}, signal) {
      const response = await request(task(id, "/logs"), { query: page, signal });
      return { messages: (await response.json()) as LogMessage[], before: response.headers.get("x-next-cursor") };
    },
    group: (id, signal) => json(`/v1/task-groups/${encodeURIComponent(id)}`, signalled(signal)),
    stats: (signal) => json("/v1/stats", signalled(signal)),
    history: (query = {}, signal) => json("/v1/stats/history", { query, signal }),
    health: (signal) => json("/v1/health", signalled(signal)),
    troubles: (signal) => json("/v1/troubles", signalled(signal)),
    instances: (signal) => json("/v1/instances", signalled(signal)),
    events: (stream = {}) => streamEvents(fetcher, `${base}/v1/events`, stream),
    launch: (body) => json("/v1/tasks", { method: "POST", body }),
    cancel: (id) => json(task(id, "/cancel"), { method: "POST", body: {} }),
    resume: (id, prompt) => json(task(id, "/resume"), { method: "POST", body: { prompt } }),
    fork: (id, body) => json(task(id, "/fork"), { method: "POST", body }),
    tell: (id) => json(task(id, "/tell"), { method: "POST", body: {} }),
    answer: (id, body) => json(task(id, "/answer"), { method: "POST", body }),
    operate: (name, input, { signal } = {}) => json(`/v1/board/${name}`, { method: "POST", body: input, signal }),
    pageToken: async () => (await json<{ token: string }>("/v1/token")).token,
  };
}

function withToken(fetcher: Fetch, token: string | undefined): Fetch {
  if (token === undefined) return fetcher;
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetcher(input, { ...init, headers });
  };
}

async function send(fetcher: Fetch, url: string, call: Call, origin: CallOrigin | undefined): Promise<Response> {
  const headers: Record<string, string> = origin === undefined ? {} : originHeaders(origin);
  if (call.body !== undefined) headers["content-type"] = "application/json";
  try {
    return await fetcher(url, {
      method: call.method ?? "GET",
      headers,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.signal ? { signal: call.signal } : {}),
    });
  } catch (cause) {
    if (call.signal?.aborted) throw cause;
    const message = `The asyncagents server at ${new URL(url).origin} does not answer. Is the program that runs it still open?`;
    throw new AsyncAgentsError("host_unavailable", message, { cause });
  }
}

function searchOf(query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? "" : `?${given}`;
}
