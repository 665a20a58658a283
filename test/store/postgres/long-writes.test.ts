/** Limits of time, with short ones in the place of those that every connection has. */
import { expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { type Kysely, sql } from "kysely";
import { Pool } from "pg";
import { clientKyselys } from "../../../src/store/postgres/client-kysely.ts";
import { prepareTokens, Transactions } from "../../../src/store/postgres/transaction.ts";
import type { Schema } from "../../../src/store/schema.ts";
import { startPostgres } from "../postgres-server.ts";

// On a busy machine.
setDefaultTimeout(60_000);

const connectionString = await startPostgres();
const LIMIT_MS = 2_000;
const first = new Pool({ connectionString });
await prepareTokens(first, "public");
await first.end();

function shortOfTime() {
  const pool = new Pool({ connectionString, max: 1, pipeline: true, query_timeout: LIMIT_MS });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  onTestFinished(() => pool.end());
  const kyselyOf = clientKyselys("public");
  return { pool, kyselyOf, transactions: new Transactions(pool, kyselyOf, "public", async () => false) };
}

const long = (kysely: Kysely<Schema>) => sql`select pg_sleep(${(2 * LIMIT_MS) / 1_000})`.execute(kysely);

test("a write that has the database alone may take longer than others, such as a migration of many tasks", async () => {
  const { transactions } = shortOfTime();
  const { result } = await transactions.write(long, { isAlone: true });
  expect(result.rows).toHaveLength(1);
});

test("it may wait longer for the others, too", async () => {
  const [holder, waiter] = [shortOfTime(), shortOfTime()];
  const held = holder.transactions.write(long, { isAlone: true });
  await waiter.transactions.write(async () => {}, { isAlone: true });
  await held;
});

test("what uses its connection afterwards waits as long as usual", async () => {
  const { pool, kyselyOf, transactions } = shortOfTime();
  await transactions.write(async () => {}, { isAlone: true });
  const client = await pool.connect();
  const reading = long((await kyselyOf(client)).kysely);
  await expect(reading).rejects.toThrow("timeout");
  client.release(true);
});
