/**
 * `inbox`: what needs a person, on all hosts. In a terminal one key answers each entry; otherwise it is a table, or
 * JSON. What a person is shown leaves a receipt; what a program reads does not.
 */
import type { Client } from "../../client/client.ts";
import { budgetId } from "../../model/budgets/budget.ts";
import { budgetThatStopped } from "../../model/budgets/budget-text.ts";
import type { WireInboxEntry } from "../../protocol/inbox.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Command, Invocation } from "../command.ts";
import { DAEMON_STOPPED } from "../connection.ts";
import { documentOf, eachOf } from "../each-of.ts";
import { EXIT } from "../exit-codes.ts";
import { liveEvents } from "../following/live-events.ts";
import { resolveTask } from "../identifiers.ts";
import { inboxColumns, inboxCommands } from "../inbox/inbox-lines.ts";
import { InboxSession } from "../inbox/inbox-session.ts";
import { listenToKeys } from "../terminal/keyboard.ts";
import { isQuit } from "../terminal/scroll-keys.ts";
import { tableLines } from "../terminal/table.ts";
import { oneLine, shortId } from "../terminal/text.ts";

const LIMIT = 200;
/** Changes that follow each other closely are read together. */
const PACE_MS = 150;
const TICK_MS = 1000;

export const inboxCommand: Command = {
  name: "inbox",
  summary: "what needs you: permissions, questions, approvals, failed runs",
  details:
    "Oldest first. In a terminal, one key answers: a allows once, A always, r rejects or declines, t types an answer, d marks a failed run as read, n goes to the next, q quits.",
  options: {
    list: { summary: "print a table and exit, also in a terminal" },
    hours: { value: "number", summary: "failed runs that ended in the last so many hours (default 72)" },
  },
  examples: ["asyncagents inbox", "asyncagents inbox --json | jq -r '.entries[] | [.kind, .taskId] | @tsv'"],
  async run(invocation) {
    const { screen, arguments: given } = invocation;
    const isInteractive = screen.isTerminal && process.stdin.isTTY && !screen.json && !given.flag("list");
    return isInteractive ? interactive(invocation) : listed(invocation);
  },
};

export const inboxReadCommand: Command = {
  name: "inbox read",
  summary: "mark how tasks ended as read: they leave the inbox",
  details:
    "For failed runs and those that were stopped at a limit. Prints what was marked. A budget that is used up stays until it is raised.",
  operands: [{ name: "task", repeated: true, completes: "task" }],
  examples: ["asyncagents inbox read 7KPnYJq", "asyncagents ls --status error -q | xargs asyncagents inbox read"],
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const client = await connection.client();
    const result = await eachOf(invocation, given.operands, async (named) => {
      const task = await client.read((await resolveTask(client, named)).id);
      if (!screen.json) screen.line(`Marked ${shortId(task.id)} "${oneLine(task.description)}" as read.`);
      return task;
    });
    if (screen.json) screen.document(documentOf("tasks", result));
    else for (const line of await stayingBudgets(client, result.values)) screen.hint(line);
    return result.exitCode;
  },
};

/** What was read may have been stopped by a budget, which only leaves the inbox when it is raised. */
async function stayingBudgets(client: Client, tasks: readonly BackgroundTask[]): Promise<string[]> {
  if (tasks.length === 0) return [];
  const stopping = new Set(tasks.flatMap(({ id, error }) => [budgetId("task", id), budgetThatStopped(error)]));
  const { entries } = await client.inbox({ limit: LIMIT });
  const staying = entries.filter((entry) => entry.budgetId !== null && stopping.has(entry.budgetId));
  return staying.map(
    (entry) => `Its budget stays in the inbox until it is raised: asyncagents budget set ${entry.budgetId} '$5 2h'`,
  );
}

async function fetched({ arguments: given }: Invocation, client: Client) {
  const failedHours = given.count("hours");
  return client.inbox({ limit: LIMIT, ...(failedHours !== undefined && { failedHours }) });
}

async function listed(invocation: Invocation): Promise<number> {
  const { connection, screen } = invocation;
  const client = await connection.client();
  const page = await fetched(invocation, client);
  screen.show(page, () => {
    const { width, paint } = screen;
    if (page.entries.length === 0) return screen.hint("Nothing needs you.");
    for (const line of tableLines(inboxColumns(paint, Date.now()), page.entries, { width, paint })) screen.line(line);
    if (page.isTruncated) screen.hint(`${page.entries.length} of ${page.total} or more`);
  });
  if (page.entries.length > 0) screen.hint(inboxCommands(page.entries));
  if (screen.isTerminal && !screen.json) await leaveReceipts(client, page.entries);
  return EXIT.ok;
}

async function leaveReceipts(client: Client, entries: readonly WireInboxEntry[]): Promise<void> {
  for (const { taskId, requestId, seen } of entries) {
    if (taskId === null || requestId === null || seen.includes("command line")) continue;
    await client.seen(taskId, { requestId, via: "command line" }).catch(() => {});
  }
}

async function interactive(invocation: Invocation): Promise<number> {
  const { connection, screen, signal } = invocation;
  const quit = new AbortController();
  const stop = AbortSignal.any([signal, quit.signal]);
  // Opened before the alternate screen, because it may print something.
  const first = await fetched(invocation, await connection.client());
  const session = new InboxSession(() => connection.client(), screen);
  let due: Timer | null = null;
  const refresh = () => {
    due ??= setTimeout(async () => {
      due = null;
      // The stream reports a lost connection, and its next snapshot refreshes.
      const page = await connection
        .client()
        .then((client) => fetched(invocation, client))
        .catch(() => null);
      if (page !== null && !stop.aborted) session.show(page.entries);
    }, PACE_MS);
  };
  const unlisten = listenToKeys((key) => {
    if (isQuit(key) && !session.isTyping) quit.abort();
    else session.press(key);
  });
  process.once("SIGTERM", () => quit.abort());
  const leave = screen.enterAlternateScreen();
  const offResize = screen.onResize(() => session.draw());
  const tick = setInterval(() => session.draw(), TICK_MS);
  session.show(first.entries);
  try {
    for await (const { event } of liveEvents(connection, stop, { onlyLooks: true })) {
      if (event.type === "reconnecting") session.say(connection.isGone() ? DAEMON_STOPPED : "no connection; retrying");
      else if (event.type === "snapshot") session.say("");
      if (event.type !== "heartbeat" && event.type !== "reconnecting") refresh();
    }
  } finally {
    clearInterval(tick);
    if (due) clearTimeout(due);
    offResize();
    unlisten();
    leave();
  }
  return signal.aborted ? EXIT.interrupted : EXIT.ok;
}
