/** How much PostgreSQL reads for a page of a list, however many tasks are stored. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { postgresStore } from "../../../src/store/open.ts";
import type { TaskQuery } from "../../../src/store/store.ts";
import { completed, create } from "../../../src/testing/sample-task.ts";
import { startPostgres } from "../postgres-server.ts";
import { readingStore } from "./reading-store.ts";

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

const ends: (() => Promise<void>)[] = [];
// Before the server ends.
afterAll(() => Promise.all(ends.map((end) => end())));
const connectionString = await startPostgres();
const schema = "lists";
const filled = await postgresStore({ connectionString, schema });
const storeTask = async (index: number) => {
  const { id } = await create(filled, `ses_${index}`, { agent: "general" }, index);
  await filled.apply(id, completed(index + 1_000));
};
await Promise.all(Array.from({ length: STORED }, (_, index) => storeTask(index)));
await filled.close();

const { store, pool, statements } = readingStore(connectionString, schema, ["bitmapscan"]);
ends.push(() => pool.end());

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
