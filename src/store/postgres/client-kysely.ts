/**
 * Kysely on one connection of the pool. Queries are sent when they are asked for, without waiting for earlier answers
 * (`pipeline`), and in that order, so that queries that do not depend on each other cost one round trip. Statements are
 * prepared once per connection. Knows nothing about transactions: `transaction.ts` does.
 */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import type { ClientBase, QueryConfig } from "pg";
import type { Schema } from "../schema.ts";
import { storablePlugin } from "../storable-plugin.ts";

/** More than a program uses; any beyond are not prepared. */
const MOST_PREPARED = 400;
const WRITES: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);
const READS: ReadonlySet<string> = new Set(["SELECT", "SET"]);

export interface ClientKysely {
  readonly kysely: Kysely<Schema>;
  /** Set by each statement that changed something, and by those that added events. */
  hasChanged: boolean;
  hasEvents: boolean;
  /** How long the client waits for an answer, in ms; null: as long as usual. */
  queryTimeout: number | null;
}

/** Returns the Kysely of a connection, made when it is first asked for. */
export function clientKyselys(schema: string): (client: ClientBase) => Promise<ClientKysely> {
  const known = new WeakMap<ClientBase, Promise<ClientKysely>>();
  const names = new Map<string, string>();
  return (client) => {
    const bound = known.get(client) ?? bind(client, schema, names);
    known.set(client, bound);
    return bound;
  };
}

async function bind(client: ClientBase, schema: string, names: Map<string, string>): Promise<ClientKysely> {
  const connection = new PipelinedConnection(client, names, `insert into "${schema.replaceAll('"', '""')}"."events" `);
  const kysely = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new OneConnection(connection),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    plugins: [storablePlugin],
  });
  // Kysely prepares its driver with the first query, and others could overtake that one.
  await kysely.connection().execute(async () => {});
  connection.kysely = kysely.withSchema(schema);
  return connection as ClientKysely;
}

class PipelinedConnection implements DatabaseConnection {
  readonly #client: ClientBase;
  readonly #names: Map<string, string>;
  kysely: Kysely<Schema> | null = null;
  hasChanged = false;
  hasEvents = false;
  queryTimeout: number | null = null;
  readonly #insertsEvents: string;

  constructor(client: ClientBase, names: Map<string, string>, insertsEvents: string) {
    this.#client = client;
    this.#names = names;
    this.#insertsEvents = insertsEvents;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    // Several statements in one text have no parameters, and cannot be prepared.
    const name = parameters.length === 0 ? undefined : this.#nameOf(sql);
    const query: QueryConfig & { query_timeout?: number } = {
      text: sql,
      values: [...parameters],
      ...(name !== undefined && { name }),
      ...(this.queryTimeout !== null && { query_timeout: this.queryTimeout }),
    };
    const { command, rowCount, rows } = await this.#client.query(query);
    if (WRITES.has(command)) {
      if (rowCount) this.hasChanged = true;
      if (rowCount && sql.includes(this.#insertsEvents)) this.hasEvents = true;
      return { numAffectedRows: BigInt(rowCount ?? 0), rows: rows ?? [] };
    }
    if (!READS.has(command)) this.hasChanged = true;
    return { rows: rows ?? [] };
  }

  /**
   * The same for all connections. Undefined if there are too many statements to prepare, and for a search: whether its
   * index helps depends on the word, so that one plan for all words would be a bad one.
   */
  #nameOf(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known !== undefined || this.#names.size >= MOST_PREPARED || sql.includes(" like $")) return known;
    const name = `asyncagents_${this.#names.size}`;
    this.#names.set(sql, name);
    return name;
  }

  // biome-ignore lint/correctness/useYield: nothing of ours streams.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error("Queries of the task store are not streamed.");
  }
}

class OneConnection implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }
  async beginTransaction(): Promise<void> {}
  async commitTransaction(): Promise<void> {}
  async rollbackTransaction(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}
