/**
 * Sends reads of single tasks that come together as one query: all that are asked for in one turn of the event loop,
 * as by runs that begin together. A read still sees everything that was committed before it was asked for, and none
 * waits for the answer to another one.
 */
import type { Kysely } from "kysely";
import { selectChains, selectSteering, selectTasks } from "../batching/batch-queries.ts";
import { chainsOf } from "../budgets/budget-reads.ts";
import type { Database } from "../database.ts";
import type { Schema } from "../schema.ts";
import { storableText } from "../storable.ts";
import type { Store } from "../store.ts";
import { taskOf } from "../tasks/rows.ts";
import { steeringOf } from "../tasks/steering.ts";

const MOST_IDS = 100;

export function withGatheredReads(store: Store, { read }: Pick<Database, "read">): Store {
  const gathered = <Found>(work: (kysely: Kysely<Schema>, ids: string[]) => Promise<Map<string, Found>>) =>
    gather((ids) => read((kysely) => work(kysely, ids)));
  const tasks = gathered(async (kysely, ids) => {
    const rows = await selectTasks(kysely, { ids });
    return new Map(rows.map((row) => [row.id, row]));
  });
  const chains = gathered(async (kysely, ids) => chainsOf(await selectChains(kysely, { ids })));
  const steering = gathered(async (kysely, keys) => {
    const asked = keys.map((key) => JSON.parse(key) as [id: string, run: number]);
    const rows = await selectSteering(kysely, { ids: asked.map(([id]) => id), runs: asked.map(([, run]) => run) });
    return Map.groupBy(rows, ({ task_id, run }) => JSON.stringify([task_id, run]));
  });
  return {
    ...store,
    async steering(id, run) {
      if (run === undefined) return store.steering(id);
      return ((await steering(JSON.stringify([storableText(id), run]))) ?? []).map(steeringOf);
    },
    async task(id) {
      const row = await tasks(id);
      // Here, so that a damaged row fails only for those who asked for it.
      return row === undefined ? null : taskOf(row);
    },
    budgets: {
      ...store.budgets,
      async chains(taskIds) {
        const [id, ...others] = taskIds;
        if (id === undefined || others.length > 0) return store.budgets.chains(taskIds);
        const chain = await chains(id);
        return new Map(chain === undefined ? [] : [[id, chain]]);
      },
    },
  };
}

interface Asked<Found> {
  ids: Set<string>;
  found: PromiseWithResolvers<ReadonlyMap<string, Found>>;
}

/** The function that it returns answers undefined if nothing was found for the id. */
export function gather<Found>(
  readAll: (ids: string[]) => Promise<ReadonlyMap<string, Found>>,
): (id: string) => Promise<Found | undefined> {
  let next: Asked<Found> | null = null;
  const begin = (): Asked<Found> => {
    const asked: Asked<Found> = { ids: new Set(), found: Promise.withResolvers() };
    setImmediate(() => {
      if (next === asked) next = null;
      readAll([...asked.ids]).then(asked.found.resolve, asked.found.reject);
    });
    return asked;
  };
  return async (id) => {
    const stored = storableText(id);
    const asked = next ?? begin();
    asked.ids.add(stored);
    next = asked.ids.size < MOST_IDS ? asked : null;
    return (await asked.found.promise).get(stored);
  };
}
