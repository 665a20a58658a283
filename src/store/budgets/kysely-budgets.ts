/** The budgets on a database: reads, settings, and the requests of tasks to their models. */
import type { Kysely } from "kysely";
import { requestVerdict, sharedIn } from "../../model/budgets/chain.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";
import { lock } from "../sql/lock.ts";
import { together } from "../sql/together.ts";
import { linksOf, lockChain, readBudget, readBudgets, readChains, readStopped } from "./budget-reads.ts";
import { updateBudget } from "./budget-writes.ts";
import type { BudgetRecords } from "./records.ts";
import { budgetRow } from "./rows.ts";
import { setBudget } from "./set-budget.ts";

type Run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

export function kyselyBudgets({ read, write }: { read: Run; write: Run }): BudgetRecords {
  return {
    get: (id) => read((kysely) => readBudget(kysely, id)),
    list: (query) => read((kysely) => readBudgets(kysely, query)),
    stopped: (ids) => read((kysely) => readStopped(kysely, ids)),
    chains: (taskIds) => read((kysely) => readChains(kysely, taskIds)),
    set: (id, change) => write((kysely) => setBudget(kysely, id, change)),
    openRequest: (taskId, disregarded = 0) => write((kysely) => openRequest(kysely, taskId, disregarded)),
  };
}

/** Of a task that is not live any more, is paused, or waits in a queue, nothing flies: its request is being stopped. */
async function openRequest(
  kysely: Kysely<Schema>,
  taskId: string,
  disregarded: number,
): ReturnType<BudgetRecords["openRequest"]> {
  await lock(kysely, "task", taskId);
  const [links, [task]] = await together([linksOf(kysely, taskId), selectLive(kysely, { taskId })]);
  const isAtWork = task?.live === 1 && task.phase !== "paused" && task.phase !== "queued";
  if (links.length === 0 || !isAtWork) return { verdict: "go" };
  const chain = await lockChain(kysely, links);
  const found = requestVerdict(
    chain,
    links.map(({ flying }) => flying),
    disregarded,
  );
  if (found.verdict !== "go") return found;
  const landed = new Set(links.flatMap(({ budgetId, flying }) => (flying === 0 ? [budgetId] : [])));
  for (const budget of sharedIn(chain).filter(({ id }) => landed.has(id))) {
    await together([
      updateBudget(kysely, budgetRow({ ...budget, flying: budget.flying + 1 })),
      setFlying(kysely, { taskId, budgetId: budget.id }),
    ]);
  }
  return found;
}

const selectLive = preparedQuery<{ taskId: string }, { live: number; phase: string | null }>((kysely, { taskId }) =>
  kysely.selectFrom("tasks").select(["live", "phase"]).where("id", "=", taskId),
);

const setFlying = preparedQuery<{ taskId: string; budgetId: string }>((kysely, { taskId, budgetId }) =>
  kysely.updateTable("task_budgets").set({ flying: 1 }).where("task_id", "=", taskId).where("budget_id", "=", budgetId),
);
