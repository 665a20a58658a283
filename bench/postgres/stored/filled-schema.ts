/**
 * Fills a PostgreSQL store with many ended tasks. Some are written by the store itself; the database then copies their
 * rows, as the store would have written them for tasks with other ids that started later: tasks, runs, events, notices,
 * totals and the end of the feed agree, except for the times inside of events, and no task is live. Other words in the
 * copies leave one word that only the first tasks have, so that it is found as often however many tasks there are.
 */
import type pg from "pg";
import { postgresStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { PLANTED, storedTask } from "../../status/stored-tasks.ts";

/** What the copies have in place of the word that is found a fixed number of times. */
export const WORDS = { fixed: PLANTED.hundredth, hundredth: "partition", frequent: PLANTED.frequent } as const;

const AT_ONCE = 100;
const MAX_NOTICES = 100;

export interface Filling {
  connectionString: string;
  schema: string;
  /** How many tasks the store writes, and how often there are as many. */
  written: number;
  times: number;
}

export async function fillSchema(client: pg.Client, { connectionString, schema, written, times }: Filling) {
  const store = await postgresStore({ connectionString, schema });
  try {
    await writeAll(store, written);
    await settleAll(store);
  } finally {
    await store.close();
  }
  await copyRows(client, schema, { written, times });
  await client.query("vacuum analyze");
}

async function writeAll(store: Store, written: number): Promise<void> {
  for (let oldest = written - 1; oldest >= 0; oldest -= AT_ONCE) {
    const ages = Array.from({ length: Math.min(AT_ONCE, oldest + 1) }, (_, index) => oldest - index);
    const tasks = ages.map(storedTask);
    await Promise.all(tasks.map(({ id, made }) => store.apply(id, made)));
    await Promise.all(tasks.map(({ id, ended }) => store.apply(id, ended)));
  }
  await store.lastSeq();
}

async function settleAll(store: Store): Promise<void> {
  for (let parents = await store.parentsWithNotices(); parents.length > 0; parents = await store.parentsWithNotices()) {
    await Promise.all(
      parents.map(async (parent) => {
        const messageId = `msg_notice_${parent}`;
        const [group] = await store.claimNotices(parent, { sender: "ins_bench", messageId, limit: MAX_NOTICES });
        if (group) await store.settleNotices(messageId, group, { state: "delivered", reason: null, at: Date.now() });
      }),
    );
  }
}

/** Texts that contain ids, or words of the description. */
const TEXTS: ReadonlySet<string> = new Set([
  "id",
  "task_id",
  "session_id",
  "parent_session_id",
  "parent_message_id",
  "batch_id",
  "message_id",
  "description",
  "description_search",
  "prompt",
  "event",
]);

/** Each copy is newer than the one before, and its numbers follow. Ids get the copy's number wherever they occur. */
async function copyRows(client: pg.Client, schema: string, { written, times }: Pick<Filling, "written" | "times">) {
  await client.query(`set search_path to ${schema}, public`);
  const number = async (query: string) => Number((await client.query({ text: query, rowMode: "array" })).rows[0]?.[0]);
  const seqs = await number("select max(seq) from events");
  const places = await number("select place from feed_end");
  const notices = await number("select max(id) from notices");
  const time = (await number("select max(started_at) - min(started_at) from tasks")) + 1_000_000;
  const later = (column: string, by: number) => `"${column}" + copy::bigint * ${by}`;
  const texts = (column: string) =>
    `replace(regexp_replace("${column}", '(ses_bench|ses_parent|msg_p|bat_)', '\\1' || copy || 'x', 'g'),
      '${WORDS.fixed}', '${WORDS.hundredth}')`;
  const numbers: Record<string, Record<string, number>> = {
    events: { seq: seqs, place: places },
    tasks: { created_seq: seqs, started_at: time, completed_at: time },
    runs: { started_at: time, ended_at: time },
    notices: { id: notices, created_at: time, settled_at: time },
  };
  for (const [table, changes] of Object.entries(numbers)) {
    const names = await columnsOf(client, schema, table);
    const values = names.map((name) => {
      const by = changes[name];
      if (by !== undefined) return later(name, by);
      return TEXTS.has(name) && !(table === "notices" && name === "id") ? texts(name) : `"${name}"`;
    });
    await client.query(
      `insert into ${table} (${names.map((name) => `"${name}"`).join(", ")}) overriding system value
       select ${values.join(", ")} from ${table}, generate_series(1, ${times - 1}) as copy`,
    );
  }
  const sums = (await columnsOf(client, schema, "agent_totals")).filter((name) => !NO_SUMS.has(name));
  await client.query(`update agent_totals set ${sums.map((name) => `"${name}" = "${name}" * ${times}`).join(", ")}`);
  await client.query(`update feed_end set place = ${places * times}`);
  await client.query("select setval(pg_get_serial_sequence('events', 'seq'), (select max(seq) from events))");
  await client.query("select setval(pg_get_serial_sequence('notices', 'id'), (select max(id) from notices))");
  const tasks = await number("select count(*) from tasks");
  await client.query("reset search_path");
  if (tasks !== written * times) throw new Error(`${tasks} tasks were made, not ${written * times}.`);
}

const NO_SUMS: ReadonlySet<string> = new Set(["agent", "slot", "duration_min", "duration_max"]);

async function columnsOf(client: pg.Client, schema: string, table: string): Promise<string[]> {
  const text = "select column_name as name from information_schema.columns where table_schema = $1 and table_name = $2";
  const { rows } = await client.query<{ name: string }>(text, [schema, table]);
  return rows.map(({ name }) => name);
}
