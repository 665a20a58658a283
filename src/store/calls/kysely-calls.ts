/**
 * The records of remote calls on a database. Every step compares the state that it starts from. The change signal tells
 * both sides. Does not know what is asked; a call that expires is one whose asker died.
 */
import { type Kysely, type RawBuilder, sql } from "kysely";
import { preparedQuery } from "../compiled-query.ts";
import type { Dialect } from "../database.ts";
import { databaseTime } from "../database-time.ts";
import type { RowOf, Schema } from "../schema.ts";
import { hasPlace } from "./fair-share.ts";
import type { RemoteCall, RemoteCallProgress, RemoteCallRecords, RemoteCallState } from "./records.ts";

/** How many calls may wait for one instance. */
const OPEN = { most: 200, each: 10 };
/** How many an instance sees at once. */
const PAGE = 50;

type Read = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

export function kyselyRemoteCalls({
  dialect,
  read,
  write,
  hurry,
}: {
  dialect: Dialect;
  read: Read;
  write: Read;
  hurry: () => void;
}): RemoteCallRecords {
  return {
    async ask(call, { now, patience }) {
      const isStored = await write((kysely) => insertCall(kysely, call, databaseTime(dialect, now), patience));
      hurry();
      return isStored;
    },
    async waitingFor(instances, now, without = []) {
      if (instances.length === 0) return [];
      const time = databaseTime(dialect, now);
      return (await read((kysely) => selectWaiting(kysely, { instances, without, time }))).map(callOf);
    },
    claim: (id, now) => write((kysely) => claimCall(kysely, id, databaseTime(dialect, now))),
    async answer(id, answer) {
      const updated = await write((kysely) => updateAnswer(kysely, { id, answer }));
      hurry();
      return updated.length > 0;
    },
    async progress(ids) {
      if (ids.length === 0) return [];
      return (await read((kysely) => selectProgress(kysely, ids))).map(progressOf);
    },
    remove: (id, states) => write((kysely) => deleteCall(kysely, id, states)),
  };
}

async function insertCall(
  kysely: Kysely<Schema>,
  { id, to, operation, input, madeBy }: RemoteCall,
  time: RawBuilder<number>,
  patience: number,
): Promise<boolean> {
  await kysely.deleteFrom("remote_calls").where("expires_at", "<=", time).execute();
  const open = await kysely
    .selectFrom("remote_calls")
    .select("made_by")
    .where("to_instance", "=", to)
    .where("state", "=", "asked")
    .execute();
  const taken = open.map(({ made_by }) => made_by);
  if (!hasPlace(taken, madeBy, OPEN)) return false;
  await kysely
    .insertInto("remote_calls")
    .values({
      id,
      to_instance: to,
      operation,
      input,
      made_by: madeBy,
      state: "asked",
      answer: null,
      created_at: time,
      expires_at: sql<number>`${time} + ${patience}`,
    })
    .execute();
  return true;
}

function selectWaiting(
  kysely: Kysely<Schema>,
  { instances, without, time }: { instances: readonly string[]; without: readonly string[]; time: RawBuilder<number> },
) {
  return kysely
    .selectFrom("remote_calls")
    .select(["id", "to_instance", "operation", "input", "made_by"])
    .where("to_instance", "in", instances)
    .where("state", "=", "asked")
    .where("expires_at", ">", time)
    .$if(without.length > 0, (query) => query.where("made_by", "not in", without))
    .orderBy(sql`row_number() over (partition by made_by order by created_at, id)`)
    .orderBy("created_at")
    .orderBy("id")
    .limit(PAGE)
    .execute();
}

async function claimCall(kysely: Kysely<Schema>, id: string, time: RawBuilder<number>): Promise<boolean> {
  const claimed = await kysely
    .updateTable("remote_calls")
    .set({ state: "claimed" })
    .where("id", "=", id)
    .where("state", "=", "asked")
    .where("expires_at", ">", time)
    .returning("id")
    .execute();
  return claimed.length > 0;
}

const updateAnswer = preparedQuery<{ id: string; answer: string }, { id: string }>((kysely, { id, answer }) =>
  kysely
    .updateTable("remote_calls")
    .set({ state: "answered", answer })
    .where("id", "=", id)
    .where("state", "=", "claimed")
    .returning("id"),
);

function selectProgress(kysely: Kysely<Schema>, ids: readonly string[]) {
  return kysely.selectFrom("remote_calls").select(["id", "state", "answer"]).where("id", "in", ids).execute();
}

async function deleteCall(
  kysely: Kysely<Schema>,
  id: string,
  states: readonly RemoteCallState[],
): Promise<RemoteCallProgress | null> {
  const row = await kysely
    .deleteFrom("remote_calls")
    .where("id", "=", id)
    .where("state", "in", states)
    .returning(["id", "state", "answer"])
    .executeTakeFirst();
  return row === undefined ? null : progressOf(row);
}

function callOf(
  row: Pick<RowOf<"remote_calls">, "id" | "to_instance" | "operation" | "input" | "made_by">,
): RemoteCall {
  return { id: row.id, to: row.to_instance, operation: row.operation, input: row.input, madeBy: row.made_by };
}

function progressOf({ id, state, answer }: Pick<RowOf<"remote_calls">, "id" | "state" | "answer">): RemoteCallProgress {
  return { id, state: state as RemoteCallState, answer };
}
