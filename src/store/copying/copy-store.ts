/**
 * Copies a whole store into an empty one: all tables that the databases have, page by page, and then compares both
 * sides completely. Until that is done the target is marked as incomplete, and nobody else can open it; a copy that was
 * interrupted starts from the beginning when it is called again. The source is not changed.
 */
import { type Kysely, sql } from "kysely";
import { AsyncAgentsError } from "../../model/errors.ts";
import { readLastSeq } from "../feed.ts";
import { putMeta, readMeta, removeMeta } from "../meta.ts";
import { putInLine } from "../queue/queued-runs.ts";
import type { Schema } from "../schema.ts";
import { type CopyAddress, type CopySource, type CopyTarget, openSource, openTarget } from "./copy-ends.ts";
import {
  digestOf,
  insertRows,
  isEmpty,
  pagesOf,
  readLastNumber,
  removeRows,
  setLastNumber,
  type TableDigest,
} from "./table-rows.ts";
import { type TableShape, tableShapes } from "./table-shapes.ts";

export interface CopyProgress {
  step: "copying" | "checking";
  table: string;
  rows: number;
}

export interface CopiedTable extends TableDigest {
  name: string;
}

export interface StoreCopy {
  from: CopyAddress;
  to: CopyAddress;
  /** Names this copy: two at once must not mix. */
  id: string;
  signal?: AbortSignal | undefined;
  onProgress?(progress: CopyProgress): void;
}

export async function copyStore(copy: StoreCopy): Promise<CopiedTable[]> {
  const source = await openSource(copy.from);
  try {
    const target = await openTarget(copy.to);
    try {
      return await copyInto(copy, source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyInto(copy: StoreCopy, source: CopySource, target: CopyTarget): Promise<CopiedTable[]> {
  const tables = await sameTables(source, target);
  await claimTarget(copy, target, tables);
  const write: Write = (work) =>
    target.write(async (kysely) => {
      await requireClaim(copy, target, kysely);
      return work(kysely);
    });
  if (target.schema !== null) await continueFeed(source, tables, write);
  for (const table of tables) await copyTable(copy, table, { source, target, write });
  const copied: CopiedTable[] = [];
  for (const table of tables) copied.push({ name: table.name, ...(await checkTable(copy, table, { source, target })) });
  await putRunsInLine(target, write);
  if (source.schema !== null) await movePositions(source, tables, write);
  await write((kysely) => removeMeta(kysely, "copying"));
  return copied;
}

type Write = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

interface Ends {
  source: CopySource;
  target: CopyTarget;
}

/** Both were brought to this version, so they differ only if one has tables of somebody else. */
async function sameTables(source: CopySource, target: CopyTarget): Promise<TableShape[]> {
  const given = await source.read((kysely) => tableShapes(kysely, source.schema));
  const made = await target.read((kysely) => tableShapes(kysely, target.schema));
  const wordsOf = ({ name, columns }: TableShape) => `${name} (${columns.join(", ")})`;
  const [givenWords, madeWords] = [new Set(given.map(wordsOf)), new Set(made.map(wordsOf))];
  const [odd] = givenWords.symmetricDifference(madeWords);
  if (odd === undefined) return made;
  const message = `Only one of the stores has the table ${odd}. Remove what does not belong to asyncagents, then copy again.`;
  throw new AsyncAgentsError("store_unavailable", message);
}

/** Marks the target as incomplete in the transaction that finds it empty, or finds the mark of an earlier copy. */
async function claimTarget(copy: StoreCopy, target: CopyTarget, tables: readonly TableShape[]): Promise<void> {
  const claim = async (kysely: Kysely<Schema>) => {
    const isMarked = (await readMeta(kysely, "copying")) !== null;
    for (const table of isMarked ? [] : tables) {
      if (await isEmpty(kysely, table)) continue;
      const message = `The store at ${copy.to.shown} already has data (${table.name}). Copy into an empty one: another folder or another database.`;
      throw new AsyncAgentsError("not_empty", message);
    }
    await putMeta(kysely, "copying", copy.id);
  };
  // Alone: what an earlier copy is writing is over, and its next write finds the mark of this one.
  await target.write(claim, { isAlone: true });
}

/** On PostgreSQL another copy could take over between this look and the commit, if the mark were not locked. */
async function requireClaim(copy: StoreCopy, { schema }: CopyTarget, kysely: Kysely<Schema>): Promise<void> {
  const mark = kysely.selectFrom("meta").select("value").where("key", "=", "copying");
  const row = await (schema === null ? mark : mark.forShare()).executeTakeFirst();
  if (row?.value === copy.id) return;
  const message = `Another copy into ${copy.to.shown} was started, and goes on there. This one has stopped.`;
  throw new AsyncAgentsError("store_unavailable", message);
}

async function copyTable(copy: StoreCopy, table: TableShape, { source, target, write }: Ends & { write: Write }) {
  const { schema } = target;
  // Of an earlier copy that was interrupted.
  while (await write((kysely) => removeRows(kysely, schema, table))) copy.signal?.throwIfAborted();
  let rows = 0;
  for await (const page of pagesOf(source, table)) {
    await write(async (kysely) => {
      await insertRows(kysely, schema, table, page);
      if (schema !== null && table.name === "events") await placeBySeq(kysely);
    });
    rows += page.length;
    report(copy, { step: "copying", table: table.name, rows });
  }
  const last = await readLastNumber(source, table);
  if (last !== null) await write((kysely) => setLastNumber(kysely, schema, table, last));
}

async function checkTable(copy: StoreCopy, table: TableShape, { source, target }: Ends): Promise<TableDigest> {
  const onPage = (rows: number) => report(copy, { step: "checking", table: table.name, rows });
  const given = await digestOf(source, table, onPage);
  const made = await digestOf(target, table, onPage);
  if (given.rows === made.rows && given.checksum === made.checksum && given.lastNumber === made.lastNumber) return made;
  const wordsOf = ({ rows, checksum, lastNumber }: TableDigest) =>
    `${rows} rows, checksum ${checksum}${lastNumber === null ? "" : `, last number ${lastNumber}`}`;
  const message = `The copy of ${table.name} differs: ${wordsOf(given)} in the source, ${wordsOf(made)} in the copy. Somebody changed one of the stores meanwhile: stop everything that uses them, then copy again.`;
  throw new AsyncAgentsError("store_unavailable", message);
}

/** The place of a copied event is its number. */
async function placeBySeq(kysely: Kysely<Schema>): Promise<void> {
  await kysely.updateTable("events").set({ place: sql<number>`seq` }).where("place", "is", null).execute();
}

/** The places that PostgreSQL gives come after those that readers of the source may have seen. */
async function continueFeed(source: CopySource, tables: readonly TableShape[], write: Write): Promise<void> {
  const events = tables.find(({ name }) => name === "events");
  const numbered = events === undefined ? null : await readLastNumber(source, events);
  const place = Math.max(numbered ?? 0, source.schema === null ? 0 : await source.read(readLastSeq));
  await write((kysely) => kysely.updateTable("feed_end").set({ place }).execute());
}

/** Who has read the feed up to a place of the source goes on behind the same events, whose places are their numbers. */
async function movePositions(source: CopySource, tables: readonly TableShape[], write: Write): Promise<void> {
  const events = tables.find(({ name }) => name === "events");
  const last = events === undefined ? null : await readLastNumber(source, events);
  const channels = await source.read((kysely) =>
    kysely.selectFrom("notification_channels").select(["channel", "seq"]).execute(),
  );
  for (const { channel, seq } of channels) {
    const next = await source.read((kysely) =>
      kysely
        .selectFrom("events")
        .select(({ fn }) => fn.min<number | null>("seq").as("seq"))
        .where((row) => row.or([row("place", ">", seq), row("place", "is", null)]))
        .executeTakeFirst(),
    );
    const position = next?.seq == null ? (last ?? 0) : Number(next.seq) - 1;
    const moved = (kysely: Kysely<Schema>) =>
      kysely.updateTable("notification_channels").set({ seq: position }).where("channel", "=", channel).execute();
    await write(moved);
  }
}

/** Runs wait in lines that are not among the tables on PostgreSQL. */
async function putRunsInLine({ read, lines }: CopyTarget, write: Write): Promise<void> {
  for (const { line } of await read((kysely) => kysely.selectFrom("queue_lines").select("line").execute())) {
    await lines.open(line);
  }
  const waiting = (kysely: Kysely<Schema>, after: number) =>
    kysely
      .selectFrom("queued_runs")
      .selectAll()
      .where("state", "=", "waiting")
      .where("seq", ">", after)
      .orderBy("seq")
      .limit(100)
      .execute();
  for (let after: number | null = 0; after !== null; ) {
    const from: number = after;
    after = await write(async (kysely) => {
      const rows = await waiting(kysely, from);
      for (const row of rows) await putInLine(kysely, lines, row);
      return rows.at(-1)?.seq ?? null;
    });
  }
}

function report(copy: StoreCopy, progress: CopyProgress): void {
  copy.signal?.throwIfAborted();
  copy.onProgress?.(progress);
}
