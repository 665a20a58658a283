/**
 * Followers and their notices on a database. A notice is written in the transaction that ends the run, or, if the
 * follower came later, in the one that finds it ended: the task's lock orders the two. Claims are per end, so that two
 * hooks of a session never tell the same one.
 */
import { type Kysely, sql } from "kysely";
import {
  CLIENT,
  type Follower,
  partsOfHandle,
  runHandle,
  type TellingWay,
} from "../../model/notifications/follower.ts";
import { isLive, type Task } from "../../model/task.ts";
import { lockItemOfAttempt } from "../board/attempt-writes.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { RowOf, Schema } from "../schema.ts";
import { together } from "../sql/together.ts";
import type { Notice } from "../store.ts";
import { addNoticeTo, noticeOf } from "../tasks/notices.ts";
import { lockTasks } from "../tasks/reads.ts";
import type { EndClaim, FollowerRecords, ToldNotices } from "./records.ts";

type Run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

const GROUP = 20;
const MOST_OPEN = 200;
const MOST_CLAIMED = 50;
const UNSETTLED = ["pending", "sending"] as const;

export function kyselyFollowers({ read, write }: { read: Run; write: Run }): FollowerRecords {
  return {
    async add(follower, at) {
      // At once: whoever died in between would leave a follower that is never told of an end before it.
      await write(async (kysely) => {
        await insertFollower(kysely, follower);
        await tellEnded(kysely, follower.handle, at);
      });
      await write((kysely) => tellEnded(kysely, follower.handle, at));
    },
    get: (handle) => read((kysely) => readFollower(kysely, "task_id", handle)),
    ofCall: (callId) => read((kysely) => readFollower(kysely, "call_id", callId)),
    change: (handle, change) => write((kysely) => changeFollower(kysely, handle, change)),
    open: (client) => read((kysely) => readOpen(kysely, client)),
    async claim(client, claim) {
      // Usually there is nothing to claim: check that without the write lock.
      const due = await read((kysely) => selectDue(kysely, client, claim).execute());
      return due.length === 0 ? [] : write((kysely) => claimDue(kysely, client, claim));
    },
    told: (which, outcome) => write((kysely) => settleTold(kysely, which, outcome)),
    claimed: (client) => read((kysely) => readClaimed(kysely, client)),
    release: (messageId, reason) => write((kysely) => releaseClaim(kysely, messageId, reason)),
    dropOld: (before, outcome) => write((kysely) => dropOld(kysely, before, outcome)),
  };
}

/** Nothing if nobody follows it. For the transaction that ends a run of the task. */
export async function addFollowerNotice(kysely: Kysely<Schema>, task: Task, at: number): Promise<void> {
  await addRunNotice(kysely, task, { run: task.run.number, at });
}

async function addRunNotice(
  kysely: Kysely<Schema>,
  task: Pick<Task, "id" | "batchId" | "parentSessionId">,
  { run, at }: { run: number; at: number },
): Promise<void> {
  const [own, attempts] = handlesOf(task, run);
  const found = await selectFollower(kysely, { own, attempts });
  const follower = found.find(({ task_id }) => task_id === own) ?? found[0];
  if (follower !== undefined) await tellFollower(kysely, task, { run, at, to: follower.client });
}

/** An attempt's id is the batch of its task. */
function handlesOf({ id, batchId }: Pick<Task, "id" | "batchId">, run: number): [own: string, attempts: string] {
  return [runHandle(id, run), runHandle(batchId, run)];
}

function tellFollower(
  kysely: Kysely<Schema>,
  task: Pick<Task, "id" | "batchId" | "parentSessionId">,
  notice: { run: number; at: number; to: string },
): Promise<void> {
  return addNoticeTo(kysely, task, { ...notice, kind: "ended", topic: "ended", wake: "now" });
}

type FollowerRow = Pick<RowOf<"followers">, "task_id" | "client">;

const selectFollower = preparedQuery<{ own: string; attempts: string }, FollowerRow>((kysely, { own, attempts }) =>
  kysely.selectFrom("followers").select(["task_id", "client"]).where("task_id", "in", [own, attempts]),
);

const selectFollowers = preparedQuery<{ handles: readonly string[] }, FollowerRow>((kysely, { handles }) =>
  kysely.selectFrom("followers").select(["task_id", "client"]).where(sql<boolean>`task_id = any(${handles})`),
);

/** The same for the ends of several tasks. PostgreSQL only. */
export async function addFollowerNotices(
  kysely: Kysely<Schema>,
  ended: readonly { task: Task; at: number }[],
): Promise<void> {
  const handles = ended.flatMap(({ task }) => handlesOf(task, task.run.number));
  const rows = await selectFollowers(kysely, { handles });
  const clients = new Map(rows.map(({ task_id, client }) => [task_id, client]));
  await together(
    ended.map(({ task, at }) => {
      const run = task.run.number;
      const to = handlesOf(task, run).flatMap((handle) => clients.get(handle) ?? [])[0];
      return to === undefined ? null : tellFollower(kysely, task, { run, at, to });
    }),
  );
}

/** An attempt that could not be set up has no task: its notice has its own id. */
export async function addSetupNotice(kysely: Kysely<Schema>, attemptId: string, at: number): Promise<void> {
  await addRunNotice(kysely, { id: attemptId, batchId: attemptId, parentSessionId: "" }, { run: 0, at });
}

/** Whether the end of this run is told to a follower, if there is one. */
export function isForFollower(before: Task | null, after: Task): boolean {
  const hasEnded = before !== null && isLive(before.status) && !isLive(after.status);
  return hasEnded && after.parentSessionId === "";
}

async function insertFollower(kysely: Kysely<Schema>, { handle, callId, ...rest }: Follower): Promise<void> {
  await kysely
    .insertInto("followers")
    .values({ task_id: handle, call_id: callId, ...rest })
    .onConflict((conflict) => conflict.column("task_id").doNothing())
    .execute();
}

/** Also after the follower is stored: a task that began and ended meanwhile could be locked by nobody. */
async function tellEnded(kysely: Kysely<Schema>, handle: string, at: number): Promise<void> {
  const { run } = partsOfHandle(handle);
  const ids = await idsOf(kysely, handle);
  const tasks = await lockTasks(kysely, ids);
  if (tasks.length === 0 && (await hasFailedSetup(kysely, handle))) await addSetupNotice(kysely, handle, at);
  for (const task of tasks) {
    const isOver = task.run.number > run || (task.run.number === run && !isLive(task.status));
    if (isOver && task.parentSessionId === "") await addRunNotice(kysely, task, { run, at });
  }
}

/** Orders this with the setup, which takes the same lock before it fails. */
async function hasFailedSetup(kysely: Kysely<Schema>, attemptId: string): Promise<boolean> {
  if ((await lockItemOfAttempt(kysely, attemptId)) === null) return false;
  const row = await kysely.selectFrom("attempts").select("state").where("id", "=", attemptId).executeTakeFirst();
  return row?.state === "failed";
}

/** What notices about a handle are about: a task, those of an attempt, or an attempt without any. */
async function idsOf(kysely: Kysely<Schema>, handle: string): Promise<string[]> {
  const { launch } = partsOfHandle(handle);
  const own = await kysely.selectFrom("tasks").select("id").where("id", "=", launch).execute();
  const rows =
    own.length > 0
      ? own
      : await kysely.selectFrom("tasks").select("id").where("batch_id", "=", launch).limit(GROUP).execute();
  return rows.length === 0 ? [launch] : rows.map(({ id }) => id);
}

async function readFollower(
  kysely: Kysely<Schema>,
  column: "task_id" | "call_id",
  value: string,
): Promise<Follower | null> {
  const row = await kysely.selectFrom("followers").selectAll().where(column, "=", value).limit(1).executeTakeFirst();
  return row === undefined ? null : followerOf(row);
}

async function changeFollower(
  kysely: Kysely<Schema>,
  handle: string,
  change: { client?: string; way?: TellingWay },
): Promise<void> {
  await kysely.updateTable("followers").set(change).where("task_id", "=", handle).execute();
  if (change.client === undefined) return;
  const ids = await idsOf(kysely, handle);
  await kysely
    .updateTable("notices")
    .set({ parent_session_id: change.client })
    .where("task_id", "in", ids)
    .where("run", "=", partsOfHandle(handle).run)
    .where("state", "in", UNSETTLED)
    .execute();
}

/** Followers without a notice that is settled. */
async function readOpen(kysely: Kysely<Schema>, client: string): Promise<Follower[]> {
  const rows = await kysely
    .selectFrom("followers")
    .selectAll()
    .where("client", "=", client)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("notices")
            .leftJoin("tasks", "tasks.id", "notices.task_id")
            .select("notices.id")
            .where(isOfFollower())
            .where("notices.state", "in", ["delivered", "dropped"]),
        ),
      ),
    )
    .limit(MOST_OPEN)
    .execute();
  return rows.map(followerOf);
}

/** A notice about what the follower asked for: later runs are named after the launch. */
function isOfFollower() {
  const name = (launch: string) =>
    sql<string>`case when notices.run = 0 then ${sql.ref(launch)} else ${sql.ref(launch)} || '.' || notices.run end`;
  return sql<boolean>`notices.topic = 'ended' and followers.task_id in (${name("notices.task_id")}, ${name("tasks.batch_id")})`;
}

function selectDue(kysely: Kysely<Schema>, client: string, { at, graceMs }: EndClaim) {
  return kysely
    .selectFrom("notices")
    .leftJoin("tasks", "tasks.id", "notices.task_id")
    .innerJoin("followers", (join) => join.on(isOfFollower()))
    .select("notices.id")
    .where("notices.parent_session_id", "=", client)
    .where("notices.state", "=", "pending")
    .where(({ or, eb }) => or([eb("notices.created_at", "<=", at - graceMs), eb("notices.created_at", ">", at)]))
    .where("followers.client", "=", client)
    .where("followers.way", "=", "hook")
    .orderBy("notices.id")
    .limit(GROUP);
}

async function claimDue(kysely: Kysely<Schema>, client: string, claim: EndClaim): Promise<Notice[]> {
  const rows = await kysely
    .updateTable("notices")
    .set((row) => ({
      state: "sending",
      message_id: claim.messageId,
      sender: claim.sender,
      attempts: row("attempts", "+", 1),
    }))
    .set((row) => ({ fence: row("fence", "+", 1), reason: null }))
    .where("id", "in", selectDue(kysely, client, claim))
    .where("state", "=", "pending")
    .returningAll()
    .execute();
  return rows.map(noticeOf).toSorted((one, other) => one.id - other.id);
}

async function settleTold(
  kysely: Kysely<Schema>,
  which: ToldNotices,
  { reason, at }: { reason: string | null; at: number },
): Promise<boolean> {
  const ids = "handle" in which ? await idsOf(kysely, which.handle) : null;
  const run = "handle" in which ? partsOfHandle(which.handle).run : 0;
  const rows = await kysely
    .updateTable("notices")
    .set({ state: "delivered", reason, settled_at: at, next_try_at: null })
    .where("state", "in", UNSETTLED)
    .where("topic", "=", "ended")
    .$if(ids !== null, (query) => query.where("task_id", "in", ids ?? []).where("run", "=", run))
    .$if("messageId" in which, (query) => query.where("message_id", "=", "messageId" in which ? which.messageId : ""))
    .returning("parent_session_id")
    .execute();
  return rows.length > 0;
}

async function readClaimed(kysely: Kysely<Schema>, client: string) {
  const rows = await kysely
    .selectFrom("notices")
    .select(["message_id", "sender"])
    .distinct()
    .where("parent_session_id", "=", client)
    .where("state", "=", "sending")
    .orderBy("message_id")
    .limit(MOST_CLAIMED)
    .execute();
  return rows.map(({ message_id, sender }) => ({ messageId: message_id ?? "", sender }));
}

async function releaseClaim(kysely: Kysely<Schema>, messageId: string, reason: string): Promise<void> {
  await kysely
    .updateTable("notices")
    .set({ state: "pending", message_id: null, sender: null, reason })
    .where("state", "=", "sending")
    .where("message_id", "=", messageId)
    .execute();
}

async function dropOld(
  kysely: Kysely<Schema>,
  before: number,
  { reason, at }: { reason: string; at: number },
): Promise<number> {
  // Others are never given up: they must not fill the page.
  const old = await kysely
    .selectFrom("notices")
    .select("id")
    .where("state", "in", UNSETTLED)
    .where("created_at", "<", before)
    .where("parent_session_id", "like", `${CLIENT}%`)
    .limit(1_000)
    .execute();
  if (old.length === 0) return 0;
  const ids = old.map(({ id }) => id);
  const { numUpdatedRows } = await kysely
    .updateTable("notices")
    .set({ state: "dropped", reason, settled_at: at, next_try_at: null })
    .where("id", "in", ids)
    .where("state", "in", UNSETTLED)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

function followerOf({ task_id, client, way, call_id }: RowOf<"followers">): Follower {
  return { handle: task_id, client, way: way as TellingWay, callId: call_id };
}
