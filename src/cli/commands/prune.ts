/** `prune`: removes old ended tasks from the store. Works without a daemon, and beside one. */
import { AuditLog } from "../../engine/access/audit-log.ts";
import type { PruneReport } from "../../engine/retention.ts";
import { systemClock } from "../../process/clock.ts";
import { callerName, FROM_PERSON } from "../../protocol/call-origin.ts";
import type { PruneObstacle } from "../../store/store.ts";
import { misuse } from "../arguments.ts";
import type { Command, Invocation } from "../command.ts";
import { isAskable, isConfirmed } from "../confirmation.ts";
import { EXIT } from "../exit-codes.ts";
import { openOwnStore } from "../other-store.ts";
import { assertPerson } from "../person-only.ts";
import { quantity } from "../terminal/text.ts";

export const pruneCommand: Command = {
  name: "prune",
  summary: "remove old ended tasks from the store",
  details:
    "Removes tasks for good, with their runs, results, events and notices. With both limits, a task goes if it exceeds one of them. A task stays while it is live, while its parent has not been told, while a follow-up is queued for it, while its work item has worktrees or unmerged work, and while a task that it launched, or another one of its batch, is live. At a terminal it says how many go, and asks. Figures of cost, tokens and time keep what pruned tasks have used.",
  options: {
    "older-than": { value: "time", summary: "tasks that ended longer ago, such as 30d or 12h" },
    keep: { value: "number", summary: "all but so many of the newest tasks" },
    yes: { short: "y", summary: "do not ask" },
    "dry-run": { short: "n", summary: "only show what would be removed" },
  },
  examples: [
    "asyncagents prune --older-than 30d --dry-run",
    "asyncagents prune --older-than 30d",
    "asyncagents prune --keep 10000",
  ],
  run: prune,
};

const WHY: Record<PruneObstacle, string> = {
  notice: "with a notice that is not delivered",
  follow_up: "with a queued follow-up",
  attempt: "of work items with worktrees or unmerged work",
  parent: "that launched a task which is not done",
  batch: "of a batch with a live task",
  after: "that another task waits for",
  newest: "with the newest event of the store",
};

async function prune(invocation: Invocation): Promise<number> {
  const { screen, signal, arguments: given } = invocation;
  const limits = { olderThanMs: given.age("older-than"), keep: given.count("keep") };
  if (limits.olderThanMs === undefined && limits.keep === undefined) {
    throw misuse(pruneCommand, "Say what may go: --older-than 30d, --keep 10000, or both.");
  }
  const dryRun = given.flag("dry-run");
  if (!dryRun) assertPerson(invocation, "remove tasks for good");
  const { pruneTasks } = await import("../../engine/retention.ts");
  const store = await openOwnStore(invocation);
  try {
    let count = 0;
    const onProgress = ({ removed }: PruneReport) => {
      count = removed.tasks ?? 0;
    };
    const prune = (isDry: boolean) =>
      pruneTasks({ ...systemClock, store, signal, onProgress }, { ...limits, dryRun: isDry });
    const progress = (isDry: boolean) => () => `${isDry ? "counting" : "pruning"}: ${amount(count)} tasks`;
    // A script means what it says.
    if (!dryRun && !given.flag("yes") && isAskable(invocation)) {
      const { removed } = await screen.during(progress(true), prune(true));
      const { tasks = 0 } = removed;
      count = 0;
      if (tasks > 0 && !(await isConfirmed(invocation, `Remove ${quantity(tasks, "task")} for good?`))) {
        screen.hint("Nothing was removed.");
        return EXIT.failed;
      }
    }
    const audit = new AuditLog({ store, now: systemClock.now });
    const call = { by: callerName(FROM_PERSON), operation: "prune", input: {} };
    const pruning = dryRun ? prune(true) : audit.record(call, () => prune(false));
    const report = await screen.during(progress(dryRun), pruning);
    show(screen, report, dryRun);
    return report.isComplete ? EXIT.ok : EXIT.interrupted;
  } finally {
    await store.close();
  }
}

function show(screen: Invocation["screen"], report: PruneReport, dryRun: boolean): void {
  const { endedBefore, removed, kept, isComplete } = report;
  const ended = endedBefore === null ? null : new Date(endedBefore).toISOString();
  screen.show({ dryRun, endedBefore: ended, removed, kept, complete: isComplete }, () => {
    const { tasks = 0, ...others } = removed;
    if (tasks === 0) screen.line("Nothing to remove.");
    else {
      const rows = Object.entries(others)
        .filter(([, count]) => count > 0)
        .map(([table, count]) => `${table.replaceAll("_", " ")}: ${amount(count)}`);
      screen.line(
        `${dryRun ? "Would remove" : "Removed"} ${amount(tasks)} ${tasks === 1 ? "task" : "tasks"} (rows of ${rows.join(", ")}).`,
      );
    }
    for (const [reason, count] of Object.entries(kept)) {
      screen.line(`Kept ${amount(count)} ${WHY[reason as PruneObstacle]}.`);
    }
    if (!isComplete) screen.line("Stopped early: run it again to go on.");
  });
}

function amount(count: number): string {
  return count.toLocaleString("en");
}
