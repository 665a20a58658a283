/**
 * Changes several tasks in one transaction, with as many statements as for one: reads all that the decisions need
 * under locks in one round trip, decides each change as `applyEvent` does, and writes all that follows in another. Left
 * out, for a transaction of their own, are changes that need more than this: tasks that somebody else has locked, work
 * items, takeovers, retries, messages into runs, ends that other tasks wait for, tasks that count in budgets, whose
 * rows many share. What is added to `applyEvent` is added here, or to `selectTies`. PostgreSQL only.
 */
import type { Kysely } from "kysely";
import { attemptIdOf } from "../../model/board.ts";
import { budgetId } from "../../model/budgets/budget.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { NewTask, TaskEventType } from "../../model/events.ts";
import { cancelInstead, retryInstead } from "../../model/retry.ts";
import { isSteering } from "../../model/steering.ts";
import { isLive, type Task } from "../../model/task.ts";
import { type Applied, type Transition, transition } from "../../model/transition.ts";
import { beginsOrEnds } from "../board/work-item-moves.ts";
import { addFollowerNotices, isForFollower } from "../followers/kysely-followers.ts";
import type { Lines } from "../queue/lines.ts";
import { putInLines, rowInLine } from "../queue/queued-runs.ts";
import type { Schema } from "../schema.ts";
import { tryLock, tryLockShared } from "../sql/lock.ts";
import { together } from "../sql/together.ts";
import { storableEvent, storableText } from "../storable.ts";
import { addToTotals } from "../tasks/agent-totals.ts";
import { addCountedNotice } from "../tasks/notices.ts";
import { runRow, taskOf, taskRow } from "../tasks/rows.ts";
import { spansRow } from "../tasks/work-spans.ts";
import {
  beginQueued,
  deleteProgress,
  deleteQueued,
  insertEvents,
  insertEventsAndTasks,
  insertQueued,
  insertRuns,
  lockParents,
  lockQueued,
  putManySpans,
  selectRegistered,
  selectTasks,
  selectTies,
  updateRuns,
  updateTasks,
} from "./batch-queries.ts";
import type { TaskChange } from "./task-change.ts";

/** A change that was decided, and what it is written as. */
interface Decided {
  change: TaskChange;
  before: Task | null;
  outcome: Applied;
  json: string;
}

/** What the decisions are based on. */
interface Found {
  locked: ReadonlySet<string>;
  /** Tasks whose parents are locked, where that may be needed. */
  withParent: ReadonlySet<string>;
  tasks: ReadonlyMap<string, Task>;
  queued: ReadonlyMap<string, { state: string; fence: number }>;
  /** The owners of runs that are to begin, as far as they are registered. */
  registered: ReadonlySet<string>;
  /** Nobody sets a budget now, which new tasks might count in. */
  mayCreate: boolean;
  /** What ties a change to more rows than are written here, by id: see `selectTies`. */
  ties: ReadonlySet<string>;
}

/** The changes are of different tasks. Null for those that are left out. */
export async function applyChanges(
  kysely: Kysely<Schema>,
  lines: Lines,
  changes: readonly TaskChange[],
): Promise<(Transition | null)[]> {
  const found = await read(kysely, changes);
  const decided: Decided[] = [];
  const outcomes = changes.map((change) => {
    const decision = decide(change, found);
    if (decision === null || "reason" in decision) return decision;
    decided.push(decision);
    return decision.outcome;
  });
  if (decided.length > 0) await write(kysely, lines, decided);
  return outcomes;
}

async function read(kysely: Kysely<Schema>, changes: readonly TaskChange[]): Promise<Found> {
  const ids = changes.map(({ id }) => storableText(id)).toSorted();
  const moving = changes.filter(({ event }) => beginsOrEnds(event));
  const inQueue = changes.filter((change) => change.claim !== undefined || isEnd(change));
  const telling = changes.filter(mayTell);
  const created = changes.flatMap(({ event }) => (event.type === "task.created" ? [event.task] : []));
  const owners = changes.flatMap(({ event }) => (event.type === "task.claimed" ? [event.owner] : []));
  const [locked, rows, queued, withParent, registered, isFree, ties] = await together([
    tryLock(kysely, "task", ids),
    selectTasks(kysely, { ids }),
    inQueue.length === 0 ? null : lockQueued(kysely, { ids: inQueue.map(({ id }) => id) }),
    telling.length === 0 ? null : lockParents(kysely, { ids: telling.map(({ id }) => id) }),
    owners.length === 0 ? null : selectRegistered(kysely, { ids: [...new Set(owners)] }),
    created.length === 0 ? null : tryLockShared(kysely, "budgets", ""),
    selectTies(kysely, {
      ids: [...ids, ...created.map(({ parentSessionId }) => parentSessionId)],
      moving: moving.map(({ id }) => id),
      batches: created.map(attemptIdOf),
      ending: changes.filter(isEnd).map(({ id }) => id),
      budgets: created.flatMap(budgetsOf),
    }),
  ]);
  return {
    locked: new Set(locked),
    withParent: new Set(withParent?.flatMap(({ id, is_locked }) => (is_locked ? [id] : []))),
    tasks: new Map(rows.map((row) => [row.id, taskOf(row)])),
    queued: new Map(queued?.map((row) => [row.task_id, row])),
    registered: new Set(registered?.map(({ id }) => id)),
    mayCreate: isFree !== false,
    ties: new Set(ties.map(({ id }) => id)),
  };
}

/** The budgets that a new task would count in, besides those of its parent. */
function budgetsOf({ batchId, parentSessionId }: NewTask): string[] {
  return [budgetId("batch", batchId), budgetId("session", parentSessionId)];
}

/** Null if it cannot go with others. */
function decide(change: TaskChange, found: Found): Decided | Exclude<Transition, Applied> | null {
  const { event, expected, claim } = change;
  const id = storableText(change.id);
  const before = found.tasks.get(id) ?? null;
  if (id !== change.id || !found.locked.has(id) || isSpecial(change, before, found)) return null;
  if (expected && before !== null && isLive(before.status)) {
    if (before.owner !== expected.owner || before.fence !== expected.fence) {
      return { changed: false, task: before, reason: "other_owner" };
    }
  }
  if (claim !== undefined) {
    const row = found.queued.get(id);
    // As in `beginClaim`.
    const isOwned = event.type === "task.claimed" && found.registered.has(event.owner);
    if (row?.state !== "claimed" || row.fence !== claim.fence || !isOwned) return null;
  }
  const { event: storable, json } = storableEvent(event);
  const outcome = transition(before, storable);
  if (!outcome.changed) return outcome;
  // Whoever waited for the lock of a parent here would keep those of all others meanwhile.
  return outcome.notice !== null && !found.withParent.has(id) ? null : { change, before, outcome, json };
}

/** Whether it may make a notice. */
function mayTell({ event }: TaskChange): boolean {
  const isPhased = event.type === "run.phased" && event.phase !== "working";
  return isEnd({ event }) || isPhased || event.type === "run.paused";
}

const ALONE: ReadonlySet<TaskEventType> = new Set(["task.imported", "task.resumed", "task.edited", "run.requeued"]);

function isSpecial(change: TaskChange, before: Task | null, { queued, mayCreate, ties }: Found): boolean {
  const { id, event, expected } = change;
  if (isSteering(event) || ALONE.has(event.type) || ties.has(id)) return true;
  if (expected && expected.owner !== null && expected.owner !== expected.by) return true;
  if (event.type === "task.created") {
    const { task } = event;
    if (task.id !== id || !mayCreate || task.budgets !== undefined) return true;
    if ([attemptIdOf(task), task.parentSessionId, ...budgetsOf(task)].some((each) => ties.has(each))) return true;
  }
  if (before === null) return false;
  if (ties.has(before.batchId) || (retryInstead(before, event, 1) ?? cancelInstead(before, event)) !== null)
    return true;
  // The end of a queued run that waits has to leave its line.
  return (
    isEnd({ event }) && cameFromQueue(before) && !["begun", "claimed"].includes(queued.get(before.id)?.state ?? "")
  );
}

function isEnd({ event }: Pick<TaskChange, "event">): boolean {
  return event.type === "run.completed" || event.type === "run.failed" || event.type === "run.cancelled";
}

function cameFromQueue({ id, sessionId, run }: Task): boolean {
  return id !== sessionId && run.number === 0;
}

async function write(kysely: Kysely<Schema>, lines: Lines, decided: readonly Decided[]): Promise<void> {
  const isNew = ({ before }: Decided) => before === null;
  const withProgress = decided.filter(({ change: { event } }) => "progress" in event && event.progress !== null);
  const ended = decided.filter(({ change, before }) => isEnd(change) && before !== null && cameFromQueue(before));
  const begun = decided.filter(({ change }) => change.claim !== undefined);
  const notified = decided.filter(({ outcome }) => outcome.notice !== null);
  const followed = decided.filter(({ before, outcome }) => isForFollower(before, outcome.task));
  const waiting = decided.flatMap(({ change: { queued } }) => (queued === undefined ? [] : [rowInLine(lines, queued)]));
  const changedRuns = decided.filter(({ before, outcome }) => before !== null && before.run !== outcome.task.run);
  const many = <Row>(rows: readonly Row[], run: () => Promise<unknown>) => (rows.length === 0 ? null : run());
  const runRows = (rows: readonly Decided[]) => ({
    rows: JSON.stringify(rows.map(({ outcome: { task } }) => runRow(task.id, task.run))),
  });
  const spans = decided.flatMap(({ change: { id, event, spans } }) =>
    spans !== undefined && "run" in event && event.run !== undefined ? [spansRow(id, event.run, spans)] : [],
  );
  await together([
    many(withProgress, () => deleteProgress(kysely, { ids: idsOf(withProgress) })),
    writeEventsAndTasks(kysely, decided),
    many(decided.filter(isNew), () => insertRuns(kysely, runRows(decided.filter(isNew)))),
    many(changedRuns, () => updateRuns(kysely, { ids: idsOf(changedRuns), ...runRows(changedRuns) })),
    addToTotals(
      kysely,
      decided.map(({ before, outcome }) => ({ before, after: outcome.task })),
    ),
    many(spans, () => putManySpans(kysely, { rows: JSON.stringify(spans) })),
    many(waiting, () => insertQueued(kysely, { rows: JSON.stringify(waiting) })),
    many(begun, () => beginQueued(kysely, { ids: idsOf(begun) })),
    many(ended, () => deleteQueued(kysely, { ids: idsOf(ended) })),
    many(notified, () => addNotices(kysely, notified)),
    many(followed, () =>
      addFollowerNotices(
        kysely,
        followed.map(({ outcome: { task }, change }) => ({ task, at: change.event.at })),
      ),
    ),
    // Last, because its statements are sent after the others: what failed first is the reason.
    many(waiting, () => putInLines(kysely, lines, waiting)),
  ]);
}

async function writeEventsAndTasks(kysely: Kysely<Schema>, decided: readonly Decided[]): Promise<void> {
  const events = {
    taskIds: idsOf(decided),
    types: decided.map(({ change }) => change.event.type),
    events: decided.map(({ json }) => json),
  };
  const rowsOf = (some: readonly Decided[]) => JSON.stringify(some.map(({ outcome }) => taskRow(outcome.task, 0)));
  const created = decided.filter(({ before }) => before === null);
  const changed = decided.filter(({ before }) => before !== null);
  await together([
    created.length > 0
      ? insertEventsAndTasks(kysely, { ...events, rows: rowsOf(created) })
      : insertEvents(kysely, events),
    changed.length === 0 ? null : updateTasks(kysely, { ids: idsOf(changed), rows: rowsOf(changed) }),
  ]);
}

/** Counted as if they had happened one after the other, so that one of a batch is the last. */
async function addNotices(kysely: Kysely<Schema>, notified: readonly Decided[]): Promise<void> {
  await together(
    notified.map(({ change, outcome: { task, notice } }, index) => {
      if (notice === null) throw new AsyncAgentsError("internal", `Task ${task.id} has no notice.`);
      const isSibling = (other: Decided) =>
        isEnd(other.change) &&
        other.outcome.task.batchId === task.batchId &&
        other.outcome.task.parentSessionId === task.parentSessionId;
      const endLater = notified.slice(index + 1).filter(isSibling).length;
      return addCountedNotice(kysely, task, notice, change.event.at, endLater);
    }),
  );
}

function idsOf(decided: readonly Decided[]): string[] {
  return decided.map(({ change }) => change.id);
}
