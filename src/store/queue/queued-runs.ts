/**
 * The rows of queued runs, in the caller's transaction: a run joins the queue with its task, goes back to it for a
 * retry, and leaves it when it ends. Also the lines: the different needs of runs. Does not claim.
 */
import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { preparedQuery } from "../compiled-query.ts";
import type { RowOf, Schema } from "../schema.ts";
import { together } from "../sql/together.ts";
import { folderLine } from "./folder-lines.ts";
import type { Lines } from "./lines.ts";
import type { HostFolder, QueuedRun, RunNeeds, WaitingRun } from "./run-queue.ts";

export interface StoredLine extends RunNeeds {
  line: string;
}

type WaitingRow = Omit<RowOf<"queued_runs">, "seq">;

const LINE_COLUMNS = ["line", "host", "model", "labels", "machine", "remote", "directory"] as const;

/** Not a name that can be read: it goes into names of the database. */
export function lineOf({ host, model, labels, machine, remote, directory = null }: RunNeeds): string {
  if (directory !== null) return folderLine(digestOf([host, machine, directory]));
  return `line-${digestOf([host, model, [...new Set(labels)].toSorted(), machine, ...(remote ? [remote] : [])])}`;
}

function digestOf(needs: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(needs)).digest("hex").slice(0, 32);
}

export async function addLine(kysely: Kysely<Schema>, needs: RunNeeds): Promise<void> {
  const { host, model, labels, machine, remote, directory = null } = needs;
  await kysely
    .insertInto("queue_lines")
    .values({
      line: lineOf(needs),
      host,
      model,
      labels: JSON.stringify([...new Set(labels)].toSorted()),
      machine,
      remote,
      directory,
    })
    .onConflict((conflict) => conflict.column("line").doNothing())
    .execute();
}

/** The lines that have runs. There may be many others: callers choose models and labels, and lines stay. */
export async function readLines(kysely: Kysely<Schema>): Promise<StoredLine[]> {
  const rows = await selectLines(kysely, {});
  return rows.map((row) => ({ ...row, labels: JSON.parse(row.labels) }));
}

const selectLines = preparedQuery<object, Pick<RowOf<"queue_lines">, (typeof LINE_COLUMNS)[number]>>((kysely) =>
  kysely
    .selectFrom("queue_lines")
    .select(LINE_COLUMNS)
    .where("line", "in", (inner) => inner.selectFrom("queued_runs").select("queued_runs.line"))
    .orderBy("line"),
);

/** How many runs wait, those that are held included, counted up to `most`. */
export async function countWaiting(kysely: Kysely<Schema>, most: number): Promise<number> {
  const count = async (state: "waiting" | "held") =>
    (await kysely.selectFrom("queued_runs").select("task_id").where("state", "=", state).limit(most).execute()).length;
  return (await count("waiting")) + (await count("held"));
}

/** A run that is in no line yet. */
export async function addHeldRun(kysely: Kysely<Schema>, run: QueuedRun): Promise<void> {
  const row = { ...waitingRow(run, lineOf(run), ""), state: "held" as const };
  await kysely.insertInto("queued_runs").values(row).execute();
}

/** A held run waits for whoever may begin it. False if it is not held. */
export async function releaseHeld(kysely: Kysely<Schema>, lines: Lines, taskId: string): Promise<boolean> {
  const rows = await kysely
    .updateTable("queued_runs")
    .set({ state: "waiting" })
    .where("task_id", "=", taskId)
    .where("state", "=", "held")
    .returningAll()
    .execute();
  for (const row of rows) await putInLine(kysely, lines, row);
  return rows.length > 0;
}

/** Takes a run that waits out of its line. False if somebody is about to begin it, or it has begun. */
export async function holdAgain(kysely: Kysely<Schema>, lines: Lines, taskId: string): Promise<boolean> {
  const [place] = await selectPlace(kysely, { taskId });
  if (place?.state === "waiting") await lines.remove(kysely, place.line, place.ticket);
  const rows = await kysely
    .updateTable("queued_runs")
    .set({ state: "held", ticket: "" })
    .where("task_id", "=", taskId)
    .where("state", "in", ["held", "waiting"])
    .returning("task_id")
    .execute();
  return rows.length > 0;
}

export async function addQueuedRun(kysely: Kysely<Schema>, lines: Lines, run: QueuedRun): Promise<void> {
  const row = rowInLine(lines, run);
  await putInLines(kysely, lines, [row]);
  await kysely.insertInto("queued_runs").values(row).execute();
}

/** For a run that is put into its line. */
export function rowInLine(lines: Lines, run: QueuedRun): WaitingRow {
  const line = lineOf(run);
  return waitingRow(run, line, lines.newTicket(line));
}

/** Puts runs into their lines; the caller inserts their rows. */
export async function putInLines(
  kysely: Kysely<Schema>,
  lines: Lines,
  rows: readonly Pick<WaitingRow, "line" | "task_id" | "priority" | "ticket">[],
): Promise<void> {
  const adding = [...Map.groupBy(rows, ({ line }) => line)].map(([line, its]) =>
    lines.add(
      kysely,
      line,
      its.map(({ task_id: taskId, priority, ticket }) => ({ taskId, priority, ticket })),
    ),
  );
  await together(adding);
}

function waitingRow(run: QueuedRun, line: string, ticket: string): WaitingRow {
  return {
    task_id: run.taskId,
    line,
    priority: run.priority,
    state: "waiting",
    fence: 0,
    claimed_by: null,
    claimed_until: null,
    ticket,
    retries: run.retries,
    source: run.source === null ? null : JSON.stringify(run.source),
    limits: JSON.stringify(run.limits),
    bound: run.bound,
    trouble: null,
  };
}

/** What a row and its line say about a run. */
export function queuedRunOf(row: RowOf<"queued_runs">, needs: RunNeeds): QueuedRun {
  const { host, model, labels, machine, remote, directory = null } = needs;
  return {
    taskId: row.task_id,
    host,
    model,
    labels,
    machine,
    remote,
    directory,
    priority: row.priority,
    retries: row.retries,
    source: row.source === null ? null : JSON.parse(row.source),
    bound: row.bound,
    limits: JSON.parse(row.limits),
  };
}

export async function readWaiting(kysely: Kysely<Schema>, taskIds: readonly string[]): Promise<WaitingRun[]> {
  if (taskIds.length === 0) return [];
  const rows = await kysely
    .selectFrom("queued_runs")
    .innerJoin("queue_lines", "queue_lines.line", "queued_runs.line")
    .selectAll("queued_runs")
    .select(["queue_lines.host", "queue_lines.model", "queue_lines.labels"])
    .select(["queue_lines.machine", "queue_lines.remote", "queue_lines.directory"])
    .where("task_id", "in", taskIds)
    .where("state", "<>", "begun")
    .execute();
  return rows.map((row) => ({
    ...queuedRunOf(row, { ...row, labels: JSON.parse(row.labels) }),
    isHeld: row.state === "held",
    isClaimed: row.state === "claimed",
    trouble: row.trouble,
  }));
}

const MOST_FOLDERS = 1_000;

/** The folders of runs that wait for a process which has that folder open. */
export async function readFolders(kysely: Kysely<Schema>): Promise<(HostFolder & { machine: string })[]> {
  const rows = await selectFolders(kysely, {});
  return rows.map(({ host, machine, directory }) => ({ host, machine: machine ?? "", directory: directory ?? "" }));
}

/** Every engine asks for it. With the conditions of the indexes, literally: that lets both databases choose them. */
const selectFolders = preparedQuery<object, Pick<RowOf<"queue_lines">, "host" | "machine" | "directory">>((kysely) =>
  kysely
    .selectFrom("queue_lines")
    .select(["host", "machine", "directory"])
    .where("directory", "is not", null)
    .where(({ or, exists, selectFrom }) => {
      const runs = selectFrom("queued_runs")
        .select("queued_runs.task_id")
        .where("queued_runs.line", "=", sql.ref<string>("queue_lines.line"));
      return or([
        exists(runs.where(sql<boolean>`queued_runs.state = 'waiting'`)),
        exists(runs.where(sql<boolean>`queued_runs.state <> 'waiting' and queued_runs.state = 'claimed'`)),
      ]);
    })
    .limit(MOST_FOLDERS),
);

/** For a run whose row says that it waits. */
export function putInLine(kysely: Kysely<Schema>, lines: Lines, row: RowOf<"queued_runs">): Promise<void> {
  return putAllInLines(kysely, lines, [row]);
}

/** For runs whose rows say that they wait: as few round trips for many as for one. */
export async function putAllInLines(
  kysely: Kysely<Schema>,
  lines: Lines,
  rows: readonly RowOf<"queued_runs">[],
): Promise<void> {
  const placed = rows.map((row) => ({ ...row, ticket: lines.newTicket(row.line) }));
  await putInLines(kysely, lines, placed);
  const changed = placed.filter(({ ticket }, index) => ticket !== rows[index]?.ticket);
  await together(
    changed.map(({ task_id, ticket }) =>
      kysely.updateTable("queued_runs").set({ ticket }).where("task_id", "=", task_id).execute(),
    ),
  );
}

/** 0 for a task that did not come from the queue. */
export async function retriesLeft(kysely: Kysely<Schema>, taskId: string): Promise<number> {
  const rows = await kysely.selectFrom("queued_runs").select("retries").where("task_id", "=", taskId).execute();
  return rows[0]?.retries ?? 0;
}

/** The run waits for a runner again, and has one retry less. */
export async function requeueRun(kysely: Kysely<Schema>, lines: Lines, taskId: string): Promise<void> {
  const rows = await kysely
    .updateTable("queued_runs")
    .set((row) => ({ state: "waiting", claimed_by: null, claimed_until: null, retries: row("retries", "-", 1) }))
    .where("task_id", "=", taskId)
    .returningAll()
    .execute();
  for (const row of rows) await putInLine(kysely, lines, row);
}

/** The run has ended, perhaps before it began. */
export async function removeQueuedRun(kysely: Kysely<Schema>, lines: Lines, taskId: string): Promise<void> {
  const [row] = await selectPlace(kysely, { taskId });
  if (row === undefined) return;
  if (row.state === "waiting") await lines.remove(kysely, row.line, row.ticket);
  await kysely.deleteFrom("queued_runs").where("task_id", "=", taskId).execute();
  if (row.state === "held") await kysely.deleteFrom("predecessors").where("task_id", "=", taskId).execute();
}

const selectPlace = preparedQuery<{ taskId: string }, Pick<RowOf<"queued_runs">, "line" | "state" | "ticket">>(
  (kysely, { taskId }) =>
    kysely.selectFrom("queued_runs").select(["line", "state", "ticket"]).where("task_id", "=", taskId),
);
