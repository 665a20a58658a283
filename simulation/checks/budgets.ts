/**
 * What budgets have counted follows from the tasks in them: what these used, and how many are live. Nothing stays
 * reserved or under way in a budget without live tasks.
 */
import { eachMeasure, MEASURES, NOTHING } from "../../src/model/budgets/budget.ts";
import { isLive, type Task } from "../../src/model/task.ts";
import { usedBy } from "../../src/store/budgets/budget-writes.ts";
import type { Stage } from "../scenario/stage.ts";

/** Sums of fractions are not exact. */
const TINY = 1e-6;

export async function budgetsAgree({ truth }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const chains = await truth.budgets.chains(tasks.map(({ id }) => id));
  const inside = new Map<string, Task[]>();
  for (const task of tasks) {
    for (const { id } of chains.get(task.id) ?? []) inside.set(id, [...(inside.get(id) ?? []), task]);
  }
  const found: string[] = [];
  for (const [id, its] of inside) {
    const budget = await truth.budgets.get(id);
    if (budget === null) {
      found.push(`the budget ${id} is gone, and tasks count in it`);
      continue;
    }
    const live = its.filter(({ status }) => isLive(status)).length;
    const used = its.map(usedBy).reduce((sum, each) => eachMeasure((measure) => sum[measure] + each[measure]), NOTHING);
    if (budget.live !== live) found.push(`the budget ${id} counts ${budget.live} live tasks, and ${live} are`);
    if (live === 0 && budget.flying !== 0) found.push(`the budget ${id} counts ${budget.flying} requests under way`);
    for (const measure of MEASURES) {
      const [spent, reserved] = [budget.spent[measure], budget.reserved[measure]];
      if (Math.abs(spent - used[measure]) > TINY)
        found.push(`the budget ${id} has spent ${spent} (${measure}), and its tasks used ${used[measure]}`);
      if (live === 0 && Math.abs(reserved) > TINY)
        found.push(`the budget ${id} keeps ${reserved} (${measure}) reserved for nobody`);
    }
  }
  return found;
}
