/** A store on a filled schema that only reads, by its indexes, as it would read many rows; and what it asked. */
import { type CompiledQuery, Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import { kyselyStore } from "../../../src/store/kysely-store.ts";
import type { Schema } from "../../../src/store/schema.ts";
import type { Store } from "../../../src/store/store.ts";

interface ReadingStore {
  store: Store;
  /** For questions of the test's own. To be ended. */
  pool: Pool;
  statements: CompiledQuery[];
}

/** `without`: further ways of reading that the server is not to choose. */
export function readingStore(connectionString: string, schema: string, without: readonly string[] = []): ReadingStore {
  const options = [`search_path=${schema},public`, ...["seqscan", ...without].map((name) => `enable_${name}=off`)];
  const pool = new Pool({ connectionString, options: options.map((option) => `-c ${option}`).join(" ") });
  // The server may end before its last connection is quite closed.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const statements: CompiledQuery[] = [];
  const kysely = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void statements.push(query),
  });
  const unused = () => Promise.reject(new Error("This store only reads."));
  const store = kyselyStore({
    dialect: "postgres",
    now: () => 0,
    read: (work) => work(kysely),
    write: unused,
    onChange: () => () => {},
    hurry() {},
    close: unused,
  });
  return { store, pool, statements };
}
