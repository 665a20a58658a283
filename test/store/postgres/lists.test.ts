/** How much PostgreSQL reads for a page of a list, however many tasks are stored. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { type CompiledQuery, Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import { kyselyStore } from "../../../src/store/kysely-store.ts";
import { postgresStore } from "../../../src/store/open.ts";
import type { Schema } from "../../../src/store/schema.ts";
import type { TaskQuery } from "../../../src/store/store.ts";
import { completed, create } from "../../../src/testing/sample-task.ts";
import { startPostgres } from "../postgres-server.ts";

// On a busy machine.
setDefaultTimeout(60_000);

const STORED = 1_000;
const LIMIT = 10;
const LISTS: TaskQuery[] = [
  {},
  { sort: "cost" },
  { sort: "took", order: "oldest" },
  { sort: "description" },
  { sort: "status" },
  { sort: "cost", agent: "general" },
  { status: ["completed", "error"] },
  { sort: "took", offset: LIMIT },
];

const pools: Pool[] = [];
// Before the server ends.
afterAll(() => Promise.all(pools.map((pool) => pool.end())));
const connectionString = await startPostgres();
const schema = "lists";
const filled = await postgresStore({ connectionString, schema });
const storeTask = async (index: number) => {
  const { id } = await create(filled, `ses_${index}`, { agent: "general" }, index);
  await filled.apply(id, completed(index + 1_000));
};
await Promise.all(Array.from({ length: STORED }, (_, index) => storeTask(index)));
await filled.close();

// So that few rows are read as many would be: by their indexes.
const settings = `-c search_path=${schema},public -c enable_seqscan=off -c enable_bitmapscan=off`;
const pool = new Pool({ connectionString, options: settings });
pools.push(pool);
const statements: CompiledQuery[] = [];
const kysely = new Kysely<Schema>({
  dialect: new PostgresDialect({ pool }),
  log: ({ query }) => void statements.push(query),
});
const unused = () => Promise.reject(new Error("These tests only read."));
const store = kyselyStore({
  dialect: "postgres",
  now: () => 0,
  read: (work) => work(kysely),
  write: unused,
  onChange: () => () => {},
  hurry() {},
  close: unused,
});

interface PlanNode {
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  Plans?: PlanNode[];
}

/** The most rows of `tasks` that one scan returned. */
function mostRead(node: PlanNode): number {
  const own = node["Relation Name"] === "tasks" ? node["Actual Rows"] * node["Actual Loops"] : 0;
  return Math.max(own, ...(node.Plans ?? []).map(mostRead));
}

test.each(LISTS)("a page reads no more than itself and what comes before it: %j", async (query) => {
  await pool.query("analyze");
  statements.length = 0;
  const { tasks } = await store.tasks({ ...query, limit: LIMIT, textChars: 100 });
  expect(tasks).toHaveLength(LIMIT);
  const [page] = statements;
  const text = `explain (analyze, format json) ${page?.sql}`;
  const { rows } = await pool.query({ text, values: [...(page?.parameters ?? [])] });
  expect(mostRead(rows[0]["QUERY PLAN"][0].Plan)).toBeLessThanOrEqual(LIMIT + (query.offset ?? 0));
});
