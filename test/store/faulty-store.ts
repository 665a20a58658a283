/**
 * A SQLite store whose database fails as a test says: a write is rejected before it is committed, or afterwards, as if
 * only its answer was lost, or while its commit goes on until another write waits for it (`late`), and reads fail.
 */
import { join } from "node:path";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import type { TaskEventType } from "../../src/model/events.ts";
import type { Database } from "../../src/store/database.ts";
import { kyselyStore } from "../../src/store/kysely-store.ts";
import { migrate } from "../../src/store/migrations/migrations.ts";
import { sqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import type { Store } from "../../src/store/store.ts";

type Fate = "answered" | "lost" | "failed" | "late";

export interface Faults {
  /** What becomes of a write with these events, which may be none. Asked before it is committed. */
  write: (events: readonly TaskEventType[]) => Fate;
  /** Whether reads fail. */
  areReadsFailing: boolean;
}

export interface FaultyStore {
  store: Store;
  faults: Faults;
}

export async function faultyStore(directory: string): Promise<FaultyStore> {
  const database = await sqliteDatabase({ file: join(directory, "asyncagents.db") });
  await migrate(database);
  const faults: Faults = { write: () => "answered", areReadsFailing: false };
  let asked = Promise.withResolvers<void>();
  const faulty: Database = {
    ...database,
    async read(work) {
      if (faults.areReadsFailing) throw unavailable("reads fail");
      return database.read(work);
    },
    async write(work) {
      asked.resolve();
      let fate: Fate = "answered";
      const rejected = Promise.withResolvers<never>();
      const written = database.write(async (kysely) => {
        const last = async () =>
          (await kysely.selectFrom("events").select("seq").orderBy("seq", "desc").limit(1).executeTakeFirst())?.seq ??
          0;
        const before = await last();
        const done = await work(kysely);
        const added = await kysely.selectFrom("events").select("event").where("seq", ">", before).execute();
        fate = faults.write(added.map(({ event }) => JSON.parse(event).type));
        if (fate === "failed") throw unavailable("the disk is full");
        if (fate === "late") {
          asked = Promise.withResolvers();
          rejected.reject(unavailable("the server does not answer"));
          await asked.promise;
        }
        return done;
      });
      const result = await Promise.race([written, rejected.promise]);
      if ((fate as Fate) === "lost") throw unavailable("the connection is lost");
      return result;
    },
  };
  return { store: kyselyStore(faulty), faults };
}

/** For the first write with such an event. */
export function once(type: TaskEventType, fate: Fate): Faults["write"] {
  let isDone = false;
  return (events) => {
    if (isDone || !events.includes(type)) return "answered";
    isDone = true;
    return fate;
  };
}

/** For the write with this number, counted from 1. */
export function nth(number: number, fate: Fate): Faults["write"] {
  let count = 0;
  return () => (++count === number ? fate : "answered");
}

function unavailable(message: string): AsyncAgentsError {
  return new AsyncAgentsError("store_unavailable", message);
}
