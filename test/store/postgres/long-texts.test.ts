/** That no row is too long for an index of PostgreSQL, and that the indexes of long texts are used. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { MAX_NAME } from "../../../src/model/task.ts";
import { postgresStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { startPostgres } from "../postgres-server.ts";
import { readingStore } from "./reading-store.ts";

// On a busy machine.
setDefaultTimeout(60_000);

/** PostgreSQL allows 2,704, with what it adds to the texts. */
const ENTRY_BYTES = 2_600;
/** For each unit of length of a JavaScript string. */
const UNIT_BYTES = 3;

/** The longest that each indexed text can be, in bytes, as the rules and the schemas of the operations limit it. */
const NAME = MAX_NAME * UNIT_BYTES;
const SHORT_NAME = 100 * UNIT_BYTES;
/** Made by us, or by the host for its sessions, messages and requests. */
const ID = 200;
const WORD = 40;
const LONGEST_BYTES: Record<string, number> = {
  agent: NAME,
  host: NAME,
  "left(directory, 300)": 300 * 4,
  sort_name: 60 * 4,
  // Of projects, repositories and tokens.
  name: SHORT_NAME,
  // Of the audit log.
  subject: SHORT_NAME,
  request_id: SHORT_NAME,
  call_id: MAX_NAME * UNIT_BYTES,
  client: 2 * ID,
  batch_id: ID,
  budget_id: 2 * ID,
  topic: 2 * ID,
  // An address, which is ASCII.
  endpoint: 1_000,
  key: 2 * ID,
  channel: SHORT_NAME,
  line: ID,
  hash: ID,
  operation: WORD,
  kind: WORD,
  state: WORD,
  status: WORD,
};
const IDS = /^(id|owner|to_instance|\w+_id)$/;

const connectionString = await startPostgres();
const schema = "texts";
const made = await postgresStore({ connectionString, schema });
await made.close();
const { store, pool, statements } = readingStore(connectionString, schema);
afterAll(() => pool.end());

test("the longest texts fit each index together", async () => {
  const { rows } = await pool.query<{ name: string; texts: string[] }>(`
    select indexes.relname as name, array(
      select replace(pg_get_indexdef(indexes.oid, position, true), '"', '')
      from generate_series(1, (select indnatts from pg_index where indexrelid = indexes.oid)) as position
        join pg_attribute on attrelid = indexes.oid and attnum = position
      where atttypid = 'text'::regtype) as texts
    from pg_class as indexes join pg_am on pg_am.oid = relam
    where relnamespace = '${schema}'::regnamespace and relkind = 'i' and amname = 'btree'`);
  expect(rows.map(({ name }) => name)).toContain("tasks_by_sort_name");
  for (const { name, texts } of rows) {
    const bytes = texts.map((text) => LONGEST_BYTES[text] ?? (IDS.test(text) ? ID : Number.NaN));
    const sum = bytes.reduce((all, each) => all + each, 0);
    expect([name, texts, sum <= ENTRY_BYTES]).toEqual([name, texts, true]);
  }
});

test("paths are found by the indexes of their hashes", async () => {
  const paths = ["/a/b", "/a", "/"];
  const reads: [(records: Store["board"]) => Promise<unknown>, string[]][] = [
    [(records) => records.hasKnownDirectory(paths), ["repos_by_path", "attempts_by_folder", "approvals_by_subject"]],
    [(records) => records.repoAt(paths), ["repos_by_path"]],
    [(records) => records.attemptAt(paths), ["attempt_repos_by_path", "attempts_by_folder"]],
    [(records) => records.approval("directory", "/a"), ["approvals_by_subject"]],
  ];
  for (const [read, indexes] of reads) {
    statements.length = 0;
    await read(store.board);
    const plans: string[] = [];
    for (const { sql, parameters } of statements) {
      const { rows } = await pool.query(`explain ${sql}`, [...parameters]);
      plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
    }
    for (const index of indexes) expect(plans.join("\n")).toContain(`Index Scan on ${index}`);
  }
});
