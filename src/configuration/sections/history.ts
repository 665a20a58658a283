/** How long ended tasks are kept. The daemon prunes once a day: `src/daemon/daily-prune.ts`. */
import { optional } from "../section.ts";
import { amount, wholeNumber } from "../value-kinds.ts";

export const history = {
  means: "How long ended tasks are kept. The daemon removes older ones once a day; with both, one limit is enough.",
  settings: {
    keepDays: optional(amount(), {
      means: "Ended tasks are removed after this many days.",
      variable: "ASYNCAGENTS_KEEP_DAYS",
      otherwise: "no limit",
    }),
    keepTasks: optional(wholeNumber(), {
      means: "Only this many of the newest tasks are kept.",
      variable: "ASYNCAGENTS_KEEP_TASKS",
      otherwise: "no limit",
    }),
  },
};
