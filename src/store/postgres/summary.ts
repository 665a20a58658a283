/**
 * What can be said about a PostgreSQL store without opening it: the version of its schema, how many tasks it holds, and
 * whether its user may create it. Only reads; creates and migrates nothing. For `doctor` and `store status`.
 */
import type { Client } from "pg";
import type { PostgresOptions } from "../open.ts";
import { connectionSettings } from "./connection-settings.ts";
import { postgresFailure } from "./failure.ts";

const TIMEOUT_MS = 5_000;

interface PostgresSummary {
  schemaVersion: number;
  tasks: number;
}

/** Null if there is no store in that database yet. */
export function postgresSummary(options: PostgresOptions): Promise<PostgresSummary | null> {
  const { schema = "asyncagents" } = options;
  return connected(options, async (client) => {
    const known = await client.query("select 1 from pg_tables where schemaname = $1 and tablename = 'tasks'", [schema]);
    if (known.rows.length === 0) return null;
    const quoted = client.escapeIdentifier(schema);
    const { rows } = await client.query(
      `select (select value from ${quoted}.meta where key = 'schema_version') as version,
              (select count(*) from ${quoted}.tasks) as tasks`,
    );
    return { schemaVersion: Number(rows[0].version), tasks: Number(rows[0].tasks) };
  });
}

/** What an administrator has to run so that the store can be created; null if its user may create schemas. */
export function missingRight(options: PostgresOptions): Promise<string | null> {
  return connected(options, async (client) => {
    const { rows } = await client.query(
      `select has_database_privilege(current_database(), 'create') as may,
              format('grant create on database %I to %I', current_database(), current_user) as remedy`,
    );
    return rows[0].may ? null : rows[0].remedy;
  });
}

async function connected<T>({ connectionString }: PostgresOptions, work: (client: Client) => Promise<T>): Promise<T> {
  const { Client } = (await import("pg")).default;
  const { client: settings } = connectionSettings(connectionString);
  const client = new Client({ ...settings, connectionTimeoutMillis: TIMEOUT_MS, query_timeout: TIMEOUT_MS });
  // A connection that breaks fails the query; it must not crash the process.
  client.on("error", () => {});
  try {
    await client.connect();
    return await work(client);
  } catch (thrown) {
    throw postgresFailure(thrown);
  } finally {
    await client.end().catch(() => {});
  }
}
