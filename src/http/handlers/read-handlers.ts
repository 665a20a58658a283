/**
 * The handlers that read. Each one asks the overview or the desk and converts the answer to the wire format. The
 * rules are in the engine.
 */

import { messageOf } from "../../model/errors.ts";
import { STATUSES } from "../../model/task.ts";
import type { StatusOperationName } from "../../protocol/addresses.ts";
import { holdsRole } from "../../protocol/call-origin.ts";
import { OPERATIONS, type OperationName, type OperationOutput } from "../../protocol/operations.ts";
import type { ApiContext } from "../api-context.ts";
import { openApiDocument } from "../openapi.ts";
import { replyJson } from "../reply.ts";
import {
  iso,
  READ_CHARS,
  TEXT_CHARS,
  wireDetail,
  wireGroup,
  wireInboxEntry,
  wireRun,
  wireRunner,
  wireSpans,
  wireSteering,
  wireTask,
  withQueuePlace,
} from "../wire.ts";
import { readLogs } from "./logs.ts";
import type { StatusCall, StatusHandlers } from "./status-handler.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const LOCAL_USER = { name: "local user", role: "admin", door: "local" } as const;

type ReadName = Exclude<
  StatusOperationName,
  | "launch"
  | "edit"
  | "cancel"
  | "remove"
  | "attach"
  | "resume"
  | "fork"
  | "tell"
  | "answer"
  | "seen"
  | "read"
  | "steer"
  | "cancelSteering"
  | "budgets"
  | "setBudget"
  | "notifications"
  | "testNotification"
  | "retryNotification"
  | "pushKey"
  | "subscribePush"
  | "unsubscribePush"
>;

export const readHandlers: StatusHandlers<ReadName> = {
  async tasks({ overview, desk }, { input }) {
    const { limit, offset } = input;
    const page = await overview.tasks({ ...queryOf(input), limit, offset, textChars: READ_CHARS });
    const places = await desk.queuePlaces(page.tasks);
    const tasks = page.tasks.map((task) => withQueuePlace(wireTask(task, TEXT_CHARS), places.get(task.id)));
    return { tasks, total: page.total, limit, offset };
  },
  selection: ({ overview }, { input }) => overview.selectTasks({ ...queryOf(input), limit: input.limit }),
  async task({ overview, desk, taskWorktrees, log }, { id }) {
    const task = await overview.task(id);
    const place = (await desk.queuePlaces([task])).get(id);
    // A worktree that cannot be read must not hide the task.
    const unread = (thrown: unknown) => {
      log.error("what a task changed could not be read", { task: id, error: messageOf(thrown) });
      return null;
    };
    const changes = (await taskWorktrees?.changesOf(task).catch(unread)) ?? null;
    return {
      ...withQueuePlace(wireDetail(task, await overview.notice(id), await overview.course(task)), place),
      changes,
    };
  },
  runs: async ({ overview }, { id }) => (await overview.runs(id)).map((run) => wireRun(run, id)),
  async logs(context, call) {
    const { messages, before } = await readLogs(context, call);
    return replyJson(messages, 200, before === null ? {} : { "x-next-cursor": before });
  },
  steering: async ({ overview, desk }, { id }) => (await desk.steering(await overview.task(id))).map(wireSteering),
  group: async ({ overview, now }, { id }) => wireGroup(await overview.group(id, READ_CHARS), now()),
  async spans({ overview }, { input: { task, group = "", most } }) {
    const runs = await overview.spans(task === undefined ? { batchId: group } : { taskId: task }, most);
    return runs.map(wireSpans);
  },
  stats: ({ overview }) => overview.figures(),
  history: readHistory,
  usage: readUsage,
  events: ({ stream }, { request, caller, input: { every } }) => stream({ request, caller, everyMs: every }),
  async inbox({ overview, now }, { input: { limit, failedHours } }) {
    const { entries, isTruncated } = await overview.inbox({ failedAfter: now() - failedHours * HOUR_MS });
    const shown = entries.slice(0, limit).map(wireInboxEntry);
    return { entries: shown, total: entries.length, isTruncated: isTruncated || entries.length > limit };
  },
  async health({ overview, version, startedAt, now }) {
    const uptime = (now() - startedAt) / 1000;
    return { status: "ok", uptime, version, taskCount: await overview.taskCount(), pid: process.pid };
  },
  troubles: async ({ troubles }) => troubles(),
  async instances({ desk }) {
    return (await desk.instances()).map(({ instance: { id, host, directory }, agents }) => {
      return { id, host, directory, agents: agents.map(({ name, description }) => ({ name, description })) };
    });
  },
  runners: async ({ desk, now }) => (await desk.runners()).map((runner) => wireRunner(runner, now())),
  openapi: async ({ version }) => openApiDocument(version),
  async caller(_context, { caller: { token }, origin }) {
    const allowed = (Object.keys(OPERATIONS) as OperationName[]).filter((name) =>
      holdsRole(origin, OPERATIONS[name].role),
    );
    const who = token ? ({ ...token, door: "token" } as const) : LOCAL_USER;
    return { ...who, operations: allowed };
  },
  async audit({ audit }, { input: { subject = null, before, limit } }) {
    const entries = await audit.entries({ subject, limit, ...(before !== undefined && { before }) });
    return { entries: entries.map(({ at, ...entry }) => ({ ...entry, at: iso(at) })) };
  },
  async pageToken({ guard, token }, { request }) {
    guard.admitOwnPage(request);
    return { token };
  },
};

type TaskQuery = Parameters<ApiContext["overview"]["tasks"]>[0];

/** The fields of the query string as the store calls them. */
function queryOf(input: Omit<StatusCall<"selection">["input"], "limit">): TaskQuery {
  const { status, agent, host, directory, search, sort, order } = input;
  const query = {
    status,
    agent,
    host,
    directory,
    search,
    sort,
    parentSessionId: input.parent,
    batchId: input.group,
    idPrefix: input.id,
    startedFrom: input.from,
    startedBefore: input.to,
    order: order === "asc" ? ("oldest" as const) : ("newest" as const),
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

async function readUsage(
  { overview, now }: ApiContext,
  { input }: StatusCall<"usage">,
): Promise<OperationOutput<"usage">> {
  const window = windowOf(input, now(), 7 * DAY_MS);
  const rows = await overview.usage(window);
  const { from, to, bucketMs } = window;
  return { from: iso(from), to: iso(to), bucketMs, usage: rows.map(({ at, ...row }) => ({ at: iso(at), ...row })) };
}

function windowOf(
  { from, to, buckets }: { from?: number | undefined; to?: number | undefined; buckets: number },
  now: number,
  length: number,
) {
  const end = to ?? now;
  const begin = from ?? end - length;
  return { from: begin, to: end, bucketMs: Math.max(1, Math.ceil((end - begin) / buckets)) };
}

async function readHistory(
  { overview, now }: ApiContext,
  { input }: StatusCall<"history">,
): Promise<OperationOutput<"history">> {
  const { from, to, bucketMs } = windowOf(input, now(), DAY_MS);
  const { buckets, durations } = await overview.history({ from, to, bucketMs });
  const byTime = new Map<number, ReturnType<typeof noCounts>>();
  for (const { at, status, count } of buckets) byTime.set(at, { ...(byTime.get(at) ?? noCounts()), [status]: count });
  return {
    from: iso(from),
    to: iso(to),
    bucketMs,
    buckets: [...byTime].map(([at, byStatus]) => ({ at: iso(at), byStatus })),
    durations,
  };
}

function noCounts() {
  return Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<(typeof STATUSES)[number], number>;
}
