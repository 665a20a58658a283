/**
 * The audit log: one row for each call that changes something, written before the call and completed after it, so that
 * no change is missing from it. Bounded: the oldest rows of whoever has the most go, so that nobody can push out those
 * of others by many calls.
 */
import type { Kysely } from "kysely";
import type { AuditEntry } from "../../model/access-token.ts";
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
  if (seq % SURPLUS === 0) await removeSurplus(kysely);
  return seq;
}

const insertEntry = preparedQuery<Omit<RowOf<"audit">, "seq">, { seq: number }>((kysely, row) =>
  kysely.insertInto("audit").values(row).returning("seq"),
);

async function removeSurplus(kysely: Kysely<Schema>): Promise<void> {
  const counts = await kysely
    .selectFrom("audit")
    .select((row) => ["by", row.fn.countAll().as("entries")])
    .groupBy("by")
    .orderBy("entries", "desc")
    .execute();
  const surplus = counts.reduce((sum, { entries }) => sum + Number(entries), 0) - MOST_ENTRIES;
  const [most] = counts;
  if (surplus <= 0 || most === undefined) return;
  const oldest = kysely.selectFrom("audit").select("seq").where("by", "=", most.by).orderBy("seq").limit(surplus);
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
