/** Runs what has to be done before a database can be used, and closes the database if that fails. */
import type { Database } from "./database.ts";

export async function prepare(database: Database, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    await database.close();
    throw thrown;
  }
}
