/**
 * Applies the stream to the query cache: what a change contains is shown immediately, what it only implies is
 * refetched at a limited rate. Queries that nothing shows are marked stale and not fetched.
 */
import type { QueryClient } from "@tanstack/react-query";
import type { TaskSnapshot } from "../../../src/protocol/events.ts";
import type { TaskGroup } from "../../../src/protocol/statistics.ts";
import type { TaskEventName } from "../../../src/protocol/task-event-names.ts";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { queryKeys } from "../server/query-keys.ts";
import type { FeedListener } from "./live-feed.ts";
import { keyedPacers, pacer } from "./pacer.ts";
import { TurningPoints } from "./turning-points.ts";

const PACE_MS = 1000;
const SLOW_PACE_MS = 5000;
const INBOX_PACE_MS = 300;
const GROUP_SPANS_PACE_MS = 2000;

export function queryUpdates(queries: QueryClient): FeedListener {
  const invalidate = (queryKey: readonly string[]) => queries.invalidateQueries({ queryKey: [...queryKey] });
  const stats = pacer(PACE_MS, () => invalidate(queryKeys.stats));
  const history = pacer(SLOW_PACE_MS, () => invalidate(queryKeys.history));
  const task = keyedPacers(PACE_MS, (id) => invalidate(queryKeys.task(id)));
  const runs = keyedPacers(PACE_MS, (id) => invalidate(queryKeys.runs(id)));
  const logs = keyedPacers(PACE_MS, (id) => invalidate(queryKeys.logs(id)));
  const group = keyedPacers(PACE_MS, (id) => invalidate(queryKeys.group(id)));
  const taskSpans = keyedPacers(PACE_MS, (id) => invalidate(queryKeys.taskSpans(id)));
  const groupSpans = keyedPacers(GROUP_SPANS_PACE_MS, (id) => invalidate(queryKeys.groupSpans(id)));
  const children = keyedPacers(PACE_MS, (id) => invalidate(queryKeys.children(id)));
  const inbox = pacer(INBOX_PACE_MS, () => invalidate(queryKeys.inbox));
  const turningPoints = new TurningPoints(({ status, run }) => `${status} ${run.number}`);
  const requests = new TurningPoints(({ status, phaseDetail: detail, resultRetrievedAt, clearedAt }) =>
    [
      status,
      detail?.kind === "waiting" && detail.requestId,
      detail?.kind === "blocked" && detail.by,
      resultRetrievedAt,
      clearedAt,
    ].join(),
  );
  let isFirst = true;

  return {
    onSnapshot(snapshot: TaskSnapshot) {
      if (!isFirst) void queries.invalidateQueries();
      isFirst = false;
      turningPoints.begin(snapshot.tasks);
      requests.begin(snapshot.tasks);
      queries.setQueryData(queryKeys.stats, snapshot.stats);
    },
    onChange(type: TaskEventName, changed: BackgroundTask) {
      queries.setQueryData<BackgroundTask>(queryKeys.task(changed.id), (known) => known && mergedTask(known, changed));
      queries.setQueryData<TaskGroup>(queryKeys.group(changed.batchId), (known) => known && withTask(known, changed));
      // An answer in flight may be older than this change.
      const isOnItsWay = queries.isFetching({ queryKey: [...queryKeys.task(changed.id)] }) > 0;
      if (isOnItsWay || changed.shortened.length > 0) task(changed.id);
      logs(changed.id);
      if (requests.hasTurned(changed)) inbox();
      group(changed.batchId);
      taskSpans(changed.id);
      groupSpans(changed.batchId);
      // Only a turning point changes a count, a run or a family; the many updates in between do not.
      if (!turningPoints.hasTurned(changed) && type === "task.updated") return;
      runs(changed.id);
      stats();
      history();
      if (changed.parentSessionID !== null) children(changed.parentSessionID);
    },
    onBoard: inbox,
  };
}

/** What the stream has cut or left out stays as it was until it is refetched. */
export function mergedTask(known: BackgroundTask, changed: BackgroundTask): BackgroundTask {
  const merged = { ...changed };
  if (known.answers && merged.answers === undefined) merged.answers = known.answers;
  // The stream does not say why a task waits for a runner.
  if (known.queue && changed.sessionID === "" && changed.phase === "queued") merged.queue = known.queue;
  for (const field of changed.shortened) {
    const full = known[field];
    const cut = changed[field] ?? "";
    if (full !== null && !known.shortened.includes(field) && full.length > cut.length) {
      if (field === "prompt") merged.prompt = full;
      else merged[field] = full;
      merged.shortened = merged.shortened.filter((other) => other !== field);
    }
  }
  return merged;
}

function withTask(group: TaskGroup, changed: BackgroundTask): TaskGroup {
  const tasks = group.tasks.map((task) => (task.id === changed.id ? changed : task));
  return { ...group, tasks };
}
