/** Mistakes that a programmer might make in what tasks use, and in how budgets count it. */
import type { PutBack } from "./put-back.ts";

export const BUDGET_MUTATIONS: readonly PutBack[] = [
  {
    name: "budgets-count-no-cost",
    fault: "What a task costs counts in no budget.",
    edits: [
      {
        file: "src/store/budgets/budget-writes.ts",
        old: "    cost: finite(cost),\n",
        new: "    cost: 0 * finite(cost),\n",
      },
    ],
  },
  {
    name: "usage-counted-per-event",
    fault: "What a message used counts again each time that its event comes.",
    edits: [
      {
        file: "src/model/live-run/activity.ts",
        old: "const usage = newestLast(activity.usage, messageId, use);",
        new: "const usage = newestLast(activity.usage, messageId + activity.usage.size, use);",
      },
    ],
  },
  {
    name: "usage-of-events-only",
    fault: "What a run used is what its events said: nobody reads what lost ones would have said.",
    edits: [
      {
        file: "src/model/live-run/settling.ts",
        old: "const totals = fullerProgress(totalsOf(activity), addProgress(activity.base, progress));",
        new: "const totals = fullerProgress(totalsOf(activity), addProgress(activity.base, { ...progress, cost: 0 }));",
      },
    ],
  },
];
