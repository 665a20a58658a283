/**
 * What people have approved, denied, or are asked to approve. One row per subject. Does not decide what needs approval.
 */
import type { Kysely } from "kysely";
import type { Approval } from "../../model/approval.ts";
import type { RowOf, Schema } from "../schema.ts";
import { afterKey, pageLimit } from "./pages.ts";
import type { BoardPage, BoardRecords } from "./records.ts";

const COLUMNS = [
  "id",
  "kind",
  "subject",
  "directory",
  "script",
  "state",
  "asked_by",
  "created_at",
  "decided_at",
] as const;

/** More than the rules let wait. */
const MOST_REQUESTED = 1_000;

export async function readApproval(
  kysely: Kysely<Schema>,
  kind: Approval["kind"],
  subject: string,
): Promise<Approval | null> {
  const rows = kysely.selectFrom("approvals").select(COLUMNS).where("kind", "=", kind);
  const row = await rows.where("subject", "=", subject).executeTakeFirst();
  return row === undefined ? null : approvalOf(row);
}

export async function readApprovals(
  kysely: Kysely<Schema>,
  state: Approval["state"] | null,
  page: BoardPage,
): Promise<Approval[]> {
  let rows = kysely.selectFrom("approvals").select(COLUMNS);
  if (state !== null) rows = rows.where("state", "=", state);
  for (const condition of afterKey("approvals", page, "newest")) rows = rows.where(condition);
  return (await rows.orderBy("created_at", "desc").orderBy("id").limit(pageLimit(page)).execute()).map(approvalOf);
}

/** Returns the resulting row: an existing one stays, unless it was only requested and is decided now. */
export async function putApproval(kysely: Kysely<Schema>, approval: Approval): Promise<Approval> {
  const known = await readApproval(kysely, approval.kind, approval.subject);
  if (known === null) {
    await kysely.insertInto("approvals").values(rowOf(approval)).execute();
    return approval;
  }
  if (approval.state === "requested" || approval.state === known.state) return known;
  const decision = { state: approval.state, at: approval.decidedAt ?? 0 };
  return (await writeDecision(kysely, known.id, decision)) ?? known;
}

/** Returns the resulting row. */
export async function writeDecision(
  kysely: Kysely<Schema>,
  id: string,
  { state, at, from }: Parameters<BoardRecords["decideApproval"]>[1],
): Promise<Approval | null> {
  let update = kysely.updateTable("approvals").set({ state, decided_at: at }).where("id", "=", id);
  if (from !== undefined) update = update.where("state", "=", from);
  const decided = await update.returning(COLUMNS).executeTakeFirst();
  const row = decided ?? (await kysely.selectFrom("approvals").select(COLUMNS).where("id", "=", id).executeTakeFirst());
  return row === undefined ? null : approvalOf(row);
}

export async function readRequestedBy(kysely: Kysely<Schema>): Promise<string[]> {
  const rows = kysely.selectFrom("approvals").select("asked_by").where("state", "=", "requested");
  return (await rows.limit(MOST_REQUESTED).execute()).map(({ asked_by }) => asked_by);
}

/**
 * Whether one of the paths is a repository of the board, a folder of an attempt, or a directory that a person approved.
 */
export async function hasKnownDirectory(kysely: Kysely<Schema>, paths: readonly string[]): Promise<boolean> {
  if (paths.length === 0) return false;
  const found = await Promise.all([
    kysely.selectFrom("repos").select("id").where("path", "in", paths).limit(1).executeTakeFirst(),
    kysely.selectFrom("attempts").select("id").where("folder", "in", paths).limit(1).executeTakeFirst(),
    kysely
      .selectFrom("approvals")
      .select("id")
      .where("kind", "=", "directory")
      .where("subject", "in", paths)
      .where("state", "=", "approved")
      .limit(1)
      .executeTakeFirst(),
  ]);
  return found.some((row) => row !== undefined);
}

function rowOf(approval: Approval): RowOf<"approvals"> {
  return {
    id: approval.id,
    kind: approval.kind,
    subject: approval.subject,
    directory: approval.directory,
    script: approval.script,
    state: approval.state,
    asked_by: approval.askedBy,
    created_at: approval.createdAt,
    decided_at: approval.decidedAt,
  };
}

function approvalOf(row: RowOf<"approvals">): Approval {
  return {
    id: row.id,
    kind: row.kind as Approval["kind"],
    subject: row.subject,
    directory: row.directory,
    script: row.script,
    state: row.state as Approval["state"],
    askedBy: row.asked_by,
    createdAt: row.created_at,
    decidedAt: row.decided_at,
  };
}
