/**
 * The audit log: one row for each call that changes something, written before the call and completed after it, so that
 * no change is missing from it. Bounded: whoever writes more than an equal share of it pushes out their own oldest
 * rows, so that many calls do not push out those of others.
 */
import { type Kysely, sql } from "kysely";
import { type AuditEntry, tokenNameOf } from "../../model/access-token.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import { clamp } from "../clamp.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { RowOf, Schema } from "../schema.ts";
import type { AccessRecords } from "./records.ts";

const MOST_ENTRIES = 100_000;
/** How often the surplus is removed, in entries. */
const SURPLUS = 100;
const COLUMNS = ["seq", "at", "by", "operation", "subject", "outcome"] as const;

export async function openAudit(
  kysely: Kysely<Schema>,
  { at, by, operation, subject }: Omit<AuditEntry, "seq" | "outcome">,
): Promise<number> {
  const [row] = await insertEntry(kysely, { at, by, operation, subject, outcome: "started" });
  if (row === undefined) throw new AsyncAgentsError("internal", `The audit entry of ${operation} got no number.`);
  const seq = Number(row.seq);
  if (seq % SURPLUS === 0) await removeSurplus(kysely, seq);
  return seq;
}

const insertEntry = preparedQuery<Omit<RowOf<"audit">, "seq">, { seq: number }>((kysely, row) =>
  kysely.insertInto("audit").values(row).returning("seq"),
);

/** Each of the newest entries costs its writer one, or, below an equal share of the log, whoever has the most. */
async function removeSurplus(kysely: Kysely<Schema>, newest: number): Promise<void> {
  const writers = await readWriters(kysely, newest);
  let surplus = writers.reduce((sum, { entries }) => sum + entries, 0) - MOST_ENTRIES;
  const [most] = writers;
  if (most === undefined) return;
  const share = MOST_ENTRIES / writers.length;
  for (const writer of writers) {
    const count = Math.min(writer.fresh, surplus);
    await removeOldest(kysely, writer.entries > share ? writer : most, count);
    surplus -= count;
  }
  await removeOldest(kysely, most, surplus);
}

interface Writer {
  /** A token has two, one for its holder and one for the holder's agents. */
  names: string[];
  entries: number;
  /** Those since the last time that a surplus was looked for. */
  fresh: number;
}

/** The one with the most entries first. */
async function readWriters(kysely: Kysely<Schema>, newest: number): Promise<Writer[]> {
  const isFresh = sql<number>`case when seq > ${newest - SURPLUS} then 1 else 0 end`;
  const rows = await kysely
    .selectFrom("audit")
    .select((row) => ["by", row.fn.countAll().as("entries"), row.fn.sum(isFresh).as("fresh")])
    .groupBy("by")
    .execute();
  const writers = [...Map.groupBy(rows, ({ by }) => tokenNameOf(by)).values()].map((own) => ({
    names: own.map(({ by }) => by),
    entries: own.reduce((sum, { entries }) => sum + Number(entries), 0),
    fresh: own.reduce((sum, { fresh }) => sum + Number(fresh), 0),
  }));
  return writers.toSorted((one, other) => other.entries - one.entries);
}

async function removeOldest(kysely: Kysely<Schema>, { names }: Writer, count: number): Promise<void> {
  if (count <= 0) return;
  const oldest = kysely.selectFrom("audit").select("seq").where("by", "in", names).orderBy("seq").limit(count);
  await kysely.deleteFrom("audit").where("seq", "in", oldest).execute();
}

export async function closeAudit(
  kysely: Kysely<Schema>,
  seq: number,
  { outcome, subject }: Pick<AuditEntry, "outcome" | "subject">,
): Promise<void> {
  await updateEntry(kysely, { seq, outcome, subject });
}

const updateEntry = preparedQuery<Pick<RowOf<"audit">, "seq" | "outcome" | "subject">>(
  (kysely, { seq, outcome, subject }) => kysely.updateTable("audit").set({ outcome, subject }).where("seq", "=", seq),
);

export async function readAudit(
  kysely: Kysely<Schema>,
  { subject, before, limit }: Parameters<AccessRecords["audit"]>[0],
): Promise<AuditEntry[]> {
  let rows = kysely.selectFrom("audit").select(COLUMNS);
  if (subject !== null) rows = rows.where("subject", "=", subject);
  if (before !== undefined) rows = rows.where("seq", "<", before);
  const found = await rows
    .orderBy("seq", "desc")
    .limit(clamp(limit, 50, 200))
    .execute();
  return found.map((row) => ({ ...row, seq: Number(row.seq), outcome: row.outcome as AuditEntry["outcome"] }));
}
