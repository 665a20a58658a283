/**
 * The operations of the status API as one table: what Hono serves and what the OpenAPI document says are made from it. A
 * handler parses, asks the overview or the desk, and puts the answer into the wire's words; rules live in the engine.
 */
import { z } from "zod";
import { assertDepth } from "../board/launch-depth.ts";
import type { Desk, Place } from "../engine/desk.ts";
import type { Overview } from "../engine/watching/overview.ts";
import type { Trouble } from "../engine/watching/troubles.ts";
import { AsyncAgentsError, type ErrorCode } from "../model/errors.ts";
import { STATUSES } from "../model/task.ts";
import type { Log } from "../process/log.ts";
import { isPerson, originOf } from "../protocol/call-origin.ts";
import { messageSchema } from "../protocol/conversations.ts";
import { snapshotSchema } from "../protocol/events.ts";
import type { CallOperation } from "../protocol/operations.ts";
import { healthSchema, instanceSchema, troubleSchema } from "../protocol/server.ts";
import { groupSchema, historySchema, statsSchema } from "../protocol/statistics.ts";
import {
  answerBodySchema,
  forkBodySchema,
  launchBodySchema,
  resumeBodySchema,
  runSchema,
  taskListSchema,
  taskSchema,
} from "../protocol/tasks.ts";
import { boardRoutes } from "./board-routes.ts";
import type { Guard } from "./guard.ts";
import { readLogs } from "./logs.ts";
import { openApiDocument } from "./openapi.ts";
import { historyQuery, listQuery, logsQuery, readBody, readQuery } from "./parameters.ts";
import type { Peers } from "./peers.ts";
import { replyJson } from "./reply.ts";
import { iso, READ_CHARS, TEXT_CHARS, wireDetail, wireGroup, wireRun, wireTask } from "./wire.ts";

export interface ApiContext {
  overview: Overview;
  desk: Desk;
  peers: Peers;
  guard: Guard;
  log: Log;
  token: string;
  version: string;
  startedAt: number;
  now(): number;
  /** Does the board's operations; null where this process has no board. */
  board: CallOperation | null;
  /** Answers at /mcp; null where nothing is there. */
  mcp: ((request: Request) => Promise<Response>) | null;
  /** How deep agents may launch agents; undefined for the usual. */
  maxDepth: number | undefined;
  /** What keeps the data folder from working. */
  troubles(): Trouble[];
  /** Opens the event stream. */
  stream(request: Request): Promise<Response>;
}

export interface Call {
  request: Request;
  url: URL;
  /** The id in the path; empty where it has none. */
  id: string;
}

export interface Route {
  method: "GET" | "POST";
  /** With `:id` where an id stands. */
  path: string;
  summary: string;
  query?: z.ZodObject;
  body?: z.ZodType;
  answer: z.ZodType;
  /** 200 when absent. */
  status?: number;
  type?: "text/event-stream";
  /** The error codes that belong to it, besides those of the guard. */
  fails?: readonly ErrorCode[];
  /** `open` to every caller, or only with the `token`; when absent, with the token or as the same user. */
  access?: "open" | "token";
  handle(context: ApiContext, call: Call): Promise<Response>;
}

const DAY_MS = 86_400_000;

const reads: Route[] = [
  {
    method: "GET",
    path: "/v1/tasks",
    summary: "Tasks of all processes, newest first",
    query: listQuery,
    answer: taskListSchema,
    fails: ["invalid_input"],
    async handle({ overview }, { url }) {
      const { limit, offset, parent, group, id, ...filters } = readQuery(listQuery, url.searchParams);
      const scope = { ...filters, parentSessionId: parent, batchId: group, idPrefix: id };
      const page = await overview.tasks({ ...scope, limit, offset, textChars: READ_CHARS });
      return replyJson({
        tasks: page.tasks.map((task) => wireTask(task, TEXT_CHARS)),
        total: page.total,
        limit,
        offset,
      });
    },
  },
  {
    method: "GET",
    path: "/v1/tasks/:id",
    summary: "One task with its whole result",
    answer: taskSchema,
    fails: ["task_not_found"],
    handle: async ({ overview }, { id }) => replyJson(wireDetail(await overview.task(id), await overview.notice(id))),
  },
  {
    method: "GET",
    path: "/v1/tasks/:id/runs",
    summary: "The runs of a task, newest first; at most 200",
    answer: z.array(runSchema),
    fails: ["task_not_found"],
    handle: async ({ overview }, { id }) => replyJson((await overview.runs(id)).map((run) => wireRun(run, id))),
  },
  {
    method: "GET",
    path: "/v1/tasks/:id/logs",
    summary: "The conversation of a task, oldest first, nothing masked",
    query: logsQuery,
    answer: z.array(messageSchema),
    fails: ["task_not_found", "session_gone", "host_unavailable", "host_failed", "invalid_input"],
    handle: (context, call) => readLogs(context, call, readQuery(logsQuery, call.url.searchParams)),
  },
  {
    method: "GET",
    path: "/v1/task-groups/:id",
    summary: "The tasks of a batch with their totals",
    answer: groupSchema,
    fails: ["group_not_found"],
    handle: async ({ overview, now }, { id }) => replyJson(wireGroup(await overview.group(id, READ_CHARS), now())),
  },
  {
    method: "GET",
    path: "/v1/stats",
    summary: "Counts by status and agent, durations, tokens and cost",
    answer: statsSchema,
    handle: async ({ overview }) => replyJson(await overview.figures()),
  },
  {
    method: "GET",
    path: "/v1/stats/history",
    summary: "Tasks over time, and how long runs took",
    query: historyQuery,
    answer: historySchema,
    fails: ["invalid_input"],
    handle: readHistory,
  },
  {
    method: "GET",
    path: "/v1/events",
    summary: "A snapshot, then every change as a server-sent event",
    answer: snapshotSchema,
    type: "text/event-stream",
    handle: ({ stream }, { request }) => stream(request),
  },
  {
    method: "GET",
    path: "/v1/health",
    summary: "Whether the server lives",
    answer: healthSchema,
    access: "open",
    async handle({ overview, version, startedAt, now }) {
      const uptime = (now() - startedAt) / 1000;
      return replyJson({ status: "ok", uptime, version, taskCount: await overview.taskCount(), pid: process.pid });
    },
  },
  {
    method: "GET",
    path: "/v1/troubles",
    summary: "What keeps the data folder from working: a full disk, a damaged store",
    answer: z.array(troubleSchema),
    handle: async ({ troubles }) => replyJson(troubles()),
  },
  {
    method: "GET",
    path: "/v1/instances",
    summary: "Where this process can launch tasks, with the agents there",
    answer: z.array(instanceSchema),
    async handle({ desk }) {
      const instances = (await desk.instances()).map(({ instance: { id, host, directory }, agents }) => {
        return { id, host, directory, agents: agents.map(({ name, description }) => ({ name, description })) };
      });
      return replyJson(instances);
    },
  },
  {
    method: "GET",
    path: "/v1/openapi.json",
    summary: "This API as an OpenAPI document",
    answer: z.record(z.string(), z.unknown()),
    handle: async ({ version }) => replyJson(openApiDocument(ROUTES, version)),
  },
  {
    method: "GET",
    path: "/v1/token",
    summary: "The token, for this server's own page only",
    answer: z.object({ token: z.string() }),
    async handle({ guard, token }, { request }) {
      guard.admitOwnPage(request);
      return replyJson({ token });
    },
  },
];

/** Where no engine of this process can, the daemon may: it starts hosts itself. */
async function placeOfLaunch(
  desk: Desk,
  peers: Peers,
  { directory, host }: { directory: string | null; host: string | null },
): Promise<Place> {
  try {
    return await desk.placeOfLaunch(directory, host);
  } catch (thrown) {
    const daemon = peers.daemon();
    const isElsewhere = AsyncAgentsError.isInstance(thrown) && thrown.code === "host_unavailable";
    if (!isElsewhere || daemon === null || daemon === process.pid) throw thrown;
    return { pid: daemon };
  }
}

const controls: Route[] = [
  {
    method: "POST",
    path: "/v1/tasks",
    summary: "Launch a task",
    body: launchBodySchema,
    answer: taskSchema,
    status: 201,
    access: "token",
    fails: [
      "invalid_input",
      "unknown_agent",
      "too_large",
      "too_many_tasks",
      "depth_exceeded",
      "host_unavailable",
      "host_failed",
    ],
    async handle({ desk, peers, maxDepth }, { request }) {
      assertDepth(originOf(request.headers), maxDepth);
      const body = await readBody(launchBodySchema, request);
      const { directory = null, host = null, batch = null, agent, ...rest } = body;
      const place = await placeOfLaunch(desk, peers, { directory, host });
      if ("pid" in place) return peers.forward(place.pid, request, body);
      const launched = { ...rest, batch, agent: agent ?? place.engine.defaultAgent };
      return replyJson(wireTask(await desk.launch(place.engine, launched)), 201);
    },
  },
  {
    method: "POST",
    path: "/v1/tasks/:id/cancel",
    summary: "Cancel a live task",
    answer: taskSchema,
    access: "token",
    fails: ["task_not_found", "task_not_live", "host_unavailable", "host_failed"],
    handle: async ({ overview, desk }, { id }) => replyJson(wireTask(await desk.cancel(await overview.task(id)))),
  },
  {
    method: "POST",
    path: "/v1/tasks/:id/resume",
    summary: "Continue a completed task with a new prompt",
    body: resumeBodySchema,
    answer: taskSchema,
    access: "token",
    fails: [
      ...(["invalid_input", "too_large", "task_not_found", "session_gone", "host_unavailable", "host_failed"] as const),
      ...(["task_running", "task_resuming", "task_not_resumable"] as const),
    ],
    async handle({ overview, desk, peers, maxDepth }, { request, id }) {
      assertDepth(originOf(request.headers), maxDepth);
      const body = await readBody(resumeBodySchema, request);
      const task = await overview.task(id);
      const place = await desk.placeOfResume(task);
      if ("pid" in place) return peers.forward(place.pid, request, body);
      return replyJson(wireTask(await place.engine.resumeTask(task, body)));
    },
  },
  {
    method: "POST",
    path: "/v1/tasks/:id/fork",
    summary: "Launch a task with the history of one that has ended",
    body: forkBodySchema,
    answer: taskSchema,
    status: 201,
    access: "token",
    fails: [
      ...(["invalid_input", "unknown_agent", "too_large", "task_not_found", "task_running"] as const),
      ...(["session_gone", "host_unavailable", "host_failed", "host_unsupported"] as const),
    ],
    async handle({ overview, desk, peers, maxDepth }, { request, id }) {
      assertDepth(originOf(request.headers), maxDepth);
      const body = await readBody(forkBodySchema, request);
      const task = await overview.task(id);
      const place = await desk.placeOfResume(task);
      if ("pid" in place) return peers.forward(place.pid, request, body);
      const { prompt, description = task.description, agent = task.agent } = body;
      return replyJson(wireTask(await desk.fork(place.engine, task, { prompt, description, agent })), 201);
    },
  },
  {
    method: "POST",
    path: "/v1/tasks/:id/tell",
    summary: "Tell a task's parent again what could not be delivered, or was dropped",
    answer: taskSchema,
    access: "token",
    fails: ["task_not_found", "nothing_to_tell", "host_unavailable"],
    async handle({ overview, desk, peers }, { request, id }) {
      const task = await overview.task(id);
      const place = await desk.placeOfTelling(task);
      if ("pid" in place) return peers.forward(place.pid, request, {});
      await place.engine.tellAgain(task);
      return replyJson(wireDetail(task, await overview.notice(id)));
    },
  },
  {
    method: "POST",
    path: "/v1/tasks/:id/answer",
    summary: "Answer what a task waits for: a permission or a question",
    body: answerBodySchema,
    answer: taskSchema,
    access: "token",
    fails: ["invalid_input", "too_large", "task_not_found", "nothing_asked", "host_unsupported", "host_failed"],
    async handle({ overview, desk, peers }, { request, id }) {
      const body = await readBody(answerBodySchema, request);
      if (body.kind === "permission" && !isPerson(originOf(request.headers))) {
        throw new AsyncAgentsError("not_allowed", "Only a person may answer a permission, and not an agent.");
      }
      const task = await overview.task(id);
      const place = await desk.placeOfAnswer(task, body.requestId);
      if ("pid" in place) return peers.forward(place.pid, request, body);
      const reply = body.kind === "permission" ? { ...body, message: body.message ?? null } : body;
      await place.engine.answerTask(task, reply, body.requestId, body.via ?? "api");
      return replyJson(wireTask(await overview.task(id)));
    },
  },
];

export const ROUTES: readonly Route[] = [...reads, ...controls, ...boardRoutes];

async function readHistory({ overview, now }: ApiContext, { url }: Call): Promise<Response> {
  const query = readQuery(historyQuery, url.searchParams);
  const to = query.to ?? now();
  const from = query.from ?? to - DAY_MS;
  const bucketMs = Math.max(1, Math.ceil((to - from) / query.buckets));
  const { buckets, durations } = await overview.history({ from, to, bucketMs });
  const byTime = new Map<number, Record<string, number>>();
  for (const { at, status, count } of buckets) byTime.set(at, { ...(byTime.get(at) ?? noCounts()), [status]: count });
  return replyJson({
    from: iso(from),
    to: iso(to),
    bucketMs,
    buckets: [...byTime].map(([at, byStatus]) => ({ at: iso(at), byStatus })),
    durations,
  });
}

function noCounts(): Record<string, number> {
  return Object.fromEntries(STATUSES.map((status) => [status, 0]));
}
