/** `rm`: removes ended tasks for good. Which must stay, and why, the engine decides. */
import type { Command } from "../command.ts";
import { isAskable, isConfirmed } from "../confirmation.ts";
import { eachOf } from "../each-of.ts";
import { EXIT } from "../exit-codes.ts";
import { resolveTask } from "../identifiers.ts";
import { oneLine, quantity, shortId } from "../terminal/text.ts";

/** From this many on, a person is asked first. */
const MANY = 4;

export const removeCommand: Command = {
  name: "rm",
  summary: "remove ended tasks for good",
  details:
    "Removes each task with its runs, result, events and kept conversation. Its session stays in the agent's own program, and figures of cost, tokens and time keep what it used. A task that is running is not removed: cancel it first. Neither is one that somebody still needs: its parent has not been told, a follow-up is queued, its work item has worktrees or unmerged work, or another task of its batch or one that it launched is running. `asyncagents prune` removes many at once, by age or number.",
  operands: [{ name: "task", repeated: true, completes: "task" }],
  options: { yes: { short: "y", summary: `do not ask, even for ${MANY} tasks or more` } },
  examples: ["asyncagents rm 7KPnYJq", "asyncagents ls --status error -q | xargs asyncagents rm"],
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const names = [...new Set(given.operands)];
    const client = await connection.client();
    // A script means what it says.
    const isAsked = names.length >= MANY && !given.flag("yes") && isAskable(invocation);
    if (isAsked && !(await isConfirmed(invocation, `Remove ${quantity(names.length, "task")} for good?`))) {
      screen.hint("Nothing was removed.");
      return EXIT.failed;
    }
    const { values, errors, exitCode } = await eachOf(invocation, names, async (named) => {
      const { id, description } = await resolveTask(client, named);
      const removed = await client.remove(id);
      if (!screen.json) screen.line(`Removed ${shortId(id)} "${oneLine(description)}".`);
      return removed;
    });
    if (screen.json) screen.document({ tasks: values, errors });
    return exitCode;
  },
};
