/**
 * The Store on a Database: combines the queries of each noun, and keeps an older process from writing to a newer store.
 * Contains no state and no SQL.
 */
import type { Kysely } from "kysely";
import { kyselyAccess } from "./access/kysely-access.ts";
import { applyChanges } from "./batching/apply-changes.ts";
import { ChangeBatches } from "./batching/change-batches.ts";
import { applyChange, type TaskChange } from "./batching/task-change.ts";
import { dequeueFollowUp } from "./board/follow-ups.ts";
import { kyselyBoard } from "./board/kysely-board.ts";
import { assertFits } from "./budgets/budget-writes.ts";
import { kyselyBudgets } from "./budgets/kysely-budgets.ts";
import { kyselyRemoteCalls } from "./calls/kysely-calls.ts";
import type { Database, WriteOptions } from "./database.ts";
import { readEntriesOf, readEventsOf, readFeed, readIsBehind, readLastSeq } from "./feed.ts";
import { kyselyFollowers } from "./followers/kysely-followers.ts";
import { expireInstance, moveBeat, putInstance, readInstances, removeInstance } from "./instances.ts";
import { refuseIfNewer } from "./migrations/migrations.ts";
import { kyselyNotifications } from "./notifications/kysely-notifications.ts";
import { pruneStep, readPruned, readStartOfNewest } from "./pruning/prune.ts";
import { mayBeginAnywhere } from "./queue/any-machine.ts";
import { beginClaim, releaseClaimsOf } from "./queue/claims.ts";
import { kyselyQueue } from "./queue/kysely-queue.ts";
import type { Lines } from "./queue/lines.ts";
import { addHeldRun, addQueuedRun, countWaiting, holdAgain } from "./queue/queued-runs.ts";
import { applying, applyToTask } from "./queue/queued-task-writes.ts";
import { countSuccessors, readPredecessors, settleHeld } from "./queue/successors.ts";
import { tableLines } from "./queue/table-lines.ts";
import { RolledBack, unlessRolledBack } from "./rollback.ts";
import { kyselyRunners } from "./runners/kysely-runners.ts";
import type { Schema } from "./schema.ts";
import { lock } from "./sql/lock.ts";
import { together } from "./sql/together.ts";
import type { Store, Transaction } from "./store.ts";
import { readAgentTotals } from "./tasks/agent-totals.ts";
import { lockBatchOf, readBatchRuns } from "./tasks/batches.ts";
import { readHistory } from "./tasks/history.ts";
import { readInboxTasks } from "./tasks/inbox.ts";
import { addLaunch, readLaunches, removeLaunch } from "./tasks/launches.ts";
import { readTasks, selectTasks } from "./tasks/list.ts";
import {
  claimNotices,
  dropNotices,
  readLastNotice,
  readNotices,
  readParentsWithNotices,
  reclaimNotices,
  reopenNotices,
  settleNotices,
} from "./tasks/notices.ts";
import { readOwnerless, readOwners } from "./tasks/owners.ts";
import { readParent, writeParent } from "./tasks/parents.ts";
import { lockTask, lockTasks, readRun, readRuns, readTask, readTaskOfSession } from "./tasks/reads.ts";
import { readSteering, readSteeringMessage } from "./tasks/steering.ts";
import { readUsage } from "./tasks/usage.ts";
import { readSpans } from "./tasks/work-spans.ts";
import { kyselyTranscripts } from "./transcripts/kysely-transcripts.ts";

/** `lines` hands out queued runs; where there is one writer at a time, our own tables do. */
export function kyselyStore(database: Database, lines: Lines = tableLines): Store {
  const { read, dialect, now } = database;
  const tables = { dialect, lines };
  const write = <T>(work: (kysely: Kysely<Schema>) => Promise<T>, options?: WriteOptions) =>
    unlessRolledBack(
      database.write(async (kysely) => {
        const [, result] = await together([refuseIfNewer(kysely), work(kysely)]);
        return result;
      }, options),
    );
  const alone = (change: TaskChange) => write((kysely) => applyChange(kysely, lines, change));
  const batches = new ChangeBatches({
    together: (changes) => write((kysely) => applyChanges(kysely, lines, changes)),
    alone,
  });
  // SQLite has one writer at a time, and no round trips to save.
  const apply = dialect === "postgres" ? (change: TaskChange) => batches.apply(change) : alone;
  /** Reads something of the feed; once more if events had no place in it. */
  const readInOrder = async <T>(work: (kysely: Kysely<Schema>) => Promise<T>): Promise<T> => {
    const { orderEvents } = database;
    if (orderEvents === undefined) return read(work);
    const [isBehind, found] = await read((kysely) => together([readIsBehind(kysely), work(kysely)]));
    if (!isBehind) return found;
    await orderEvents();
    return read(work);
  };

  return {
    board: kyselyBoard({ read, write }),
    access: kyselyAccess({ read, write }),
    queue: kyselyQueue(tables, { read, write, apply }),
    runners: kyselyRunners({ read, write, now }),
    transcripts: kyselyTranscripts({ read, write }),
    budgets: kyselyBudgets({ read, write }),
    notifications: kyselyNotifications({ dialect, read, write }),
    followers: kyselyFollowers({ read, write }),
    calls: kyselyRemoteCalls({ dialect, read, write, hurry: () => database.hurry() }),
    write: (work) => write((kysely) => work(transactionOn(kysely, lines))),
    apply: (id, event, expected, spans) => apply({ id, event, expected, spans }),

    task: (id) => read((kysely) => readTask(kysely, id)),
    taskOfSession: (sessionId) => read((kysely) => readTaskOfSession(kysely, sessionId)),
    tasks: (query) => read((kysely) => readTasks(kysely, dialect, query)),
    selectTasks: (query) => read((kysely) => selectTasks(kysely, dialect, query)),
    owners: () => read(readOwners),
    ownerless: () => read(readOwnerless),
    inboxTasks: (query) => read((kysely) => readInboxTasks(kysely, query)),
    batchRuns: (batchId, limit) => read((kysely) => readBatchRuns(kysely, batchId, limit)),
    runs: (taskId, limit) => read((kysely) => readRuns(kysely, taskId, limit)),
    run: (taskId, number) => read((kysely) => readRun(kysely, taskId, number)),
    spans: (query) => read((kysely) => readSpans(kysely, query)),
    steering: (taskId, run) => read((kysely) => readSteering(kysely, taskId, run)),
    steeringMessage: (id) => read((kysely) => readSteeringMessage(kysely, id)),
    agentTotals: () => read(readAgentTotals),
    history: (query) => read((kysely) => readHistory(kysely, query)),
    usage: (query) => read((kysely) => readUsage(kysely, query)),

    feed: (after, limit) => readInOrder((kysely) => readFeed(kysely, after, limit)),
    entriesOf: (taskIds, between, limit) => read((kysely) => readEntriesOf(kysely, taskIds, between, limit)),
    eventsOf: (taskId, types) => read((kysely) => readEventsOf(kysely, taskId, types)),
    lastSeq: () => readInOrder(readLastSeq),
    onChange: (listener) => database.onChange(listener),

    addInstance: (instance, leaseMs = null) =>
      write((kysely) => putInstance(kysely, now(), instance, leaseMs), { isUrgent: true }),
    beat: (id, leaseMs = null) => write((kysely) => moveBeat(kysely, now(), id, leaseMs), { isUrgent: true }),
    endInstance: (id) =>
      write(
        async (kysely) => {
          await removeInstance(kysely, id);
          await releaseClaimsOf(kysely, tables, id);
        },
        { isUrgent: true },
      ),
    expireInstance: (id) =>
      write(async (kysely) => {
        const isGone = await expireInstance(kysely, now(), id);
        if (isGone) await releaseClaimsOf(kysely, tables, id);
        return isGone;
      }),
    instances: () => read((kysely) => readInstances(kysely, now())),

    launches: (after) => read((kysely) => readLaunches(kysely, after)),
    closeLaunch: (id, by) => write((kysely) => removeLaunch(kysely, id, by)),

    putParent: (parent) => write((kysely) => writeParent(kysely, parent)),
    parent: (sessionId) => read((kysely) => readParent(kysely, sessionId)),

    parentsWithNotices: (after) => read((kysely) => readParentsWithNotices(kysely, after)),
    notices: (parent, state, limit) => read((kysely) => readNotices(kysely, parent, state, limit)),
    async claimNotices(parent, claim) {
      // Usually there is nothing to claim: check that without the write lock.
      const pending = await read((kysely) => readNotices(kysely, parent, "pending", 1));
      return pending.length === 0 ? [] : write((kysely) => claimNotices(kysely, parent, claim));
    },
    lastNotice: (taskId) => read((kysely) => readLastNotice(kysely, taskId)),
    reclaimNotices: (messageId, claim) => write((kysely) => reclaimNotices(kysely, messageId, claim)),
    reopenNotices: (taskId) => write((kysely) => reopenNotices(kysely, taskId)),
    settleNotices: (messageId, from, outcome) => write((kysely) => settleNotices(kysely, messageId, from, outcome)),
    dropNotices: (parent, reason, at) => write((kysely) => dropNotices(kysely, parent, reason, at)),

    async prune(request) {
      if (request.ids !== undefined) await database.orderEvents?.();
      return pruneStep({ read, write, dialect }, request);
    },
    startOfNewest: (count) => read((kysely) => readStartOfNewest(kysely, count)),
    pruned: () => read(readPruned),

    async close() {
      await lines.close();
      await database.close();
    },
  };
}

function transactionOn(kysely: Kysely<Schema>, lines: Lines): Transaction {
  return {
    task: (id) => lockTask(kysely, id),
    async apply(id, event, expected) {
      const outcome = await applyToTask(kysely, lines, id, event, expected);
      if (!outcome.changed) throw new RolledBack(outcome);
      return outcome;
    },
    batchOf: (parentSessionId, among) => lockBatchOf(kysely, parentSessionId, among),
    assertFits: (task, at) => assertFits(kysely, task, at),
    openLaunch: (launch) => addLaunch(kysely, launch),
    closeLaunch: (id, by) => removeLaunch(kysely, id, by),
    putParent: (parent) => writeParent(kysely, parent),
    dequeueFollowUp: (id) => dequeueFollowUp(kysely, id),
    enqueue: (run) => addQueuedRun(kysely, lines, run),
    waitingRuns: (most) => countWaiting(kysely, most),
    tasks: (ids) => lockTasks(kysely, ids),
    enqueueHeld: (run) => addHeldRun(kysely, run),
    async holdAgain(taskId) {
      await lock(kysely, "after", "");
      return holdAgain(kysely, lines, taskId);
    },
    mayBeginAnywhere: (taskId) => mayBeginAnywhere(kysely, taskId),
    settle: (id, at) => settleHeld(kysely, lines, { id, at }, applying(kysely, lines)),
    predecessorsOf: (taskIds) => readPredecessors(kysely, taskIds),
    successors: (taskId, most) => countSuccessors(kysely, taskId, most),
    async begin(claim) {
      if (await beginClaim(kysely, claim)) return;
      throw new RolledBack({ changed: false, task: await readTask(kysely, claim.taskId), reason: "other_owner" });
    },
  };
}
