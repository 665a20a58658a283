/**
 * `watch`: tasks as a table that is redrawn on every change, on the terminal's alternate screen, which leaves the
 * main screen untouched. If stdout is not a terminal, it prints one line per change. Leaves a receipt for the request
 * that it shows, and changes nothing else.
 */
import { isLive } from "../../model/task.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Command, Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { liveEvents } from "../following/live-events.ts";
import { listenToKeys } from "../terminal/keyboard.ts";
import { LiveTable } from "../terminal/live-table.ts";
import { isQuit } from "../terminal/scroll-keys.ts";
import { taskState } from "../terminal/task-table.ts";
import { oneLine } from "../terminal/text.ts";
import { budgetLine } from "./spending/budget.ts";

/** How often what no event tells is read; the table is drawn again every second anyway. */
const READ_MS = 2_000;
/** The newest live tasks of which it is read why they wait. */
const MOST_WAITING = 200;

export const watchCommand: Command = {
  name: "watch",
  summary: "show tasks in a live table; q or Ctrl-C quits",
  details:
    "Keys: j, k and the arrows scroll, PageUp and PageDown scroll by a screen, g and G jump to the first and last task, q quits.",
  options: { live: { summary: "only running tasks" } },
  examples: ["asyncagents watch", "asyncagents watch --json | jq -c '{type, status: .task.status}'"],
  run: (invocation) =>
    invocation.screen.isTerminal && !invocation.screen.json ? watchTable(invocation) : watchLines(invocation),
};

async function watchLines({ connection, screen, signal }: Invocation): Promise<number> {
  for await (const { event } of liveEvents(connection, signal, { onlyLooks: true })) {
    if (screen.json) {
      if (event.type !== "heartbeat" && event.type !== "board.changed") screen.jsonLine(event);
    } else if (event.type === "snapshot") {
      for (const task of event.snapshot.tasks.filter(({ status }) => isLive(status)))
        screen.line(changeLine("task", task));
    } else if ("task" in event) screen.line(changeLine(event.type, event.task));
    await screen.flush();
  }
  return EXIT.interrupted;
}

function changeLine(type: string, task: BackgroundTask): string {
  const pieces = [new Date().toISOString(), type, task.id, taskState(task), task.agent, task.description];
  return pieces.map(oneLine).join("  ");
}

async function watchTable(invocation: Invocation): Promise<number> {
  const { connection, screen, signal } = invocation;
  const quit = new AbortController();
  const stop = AbortSignal.any([signal, quit.signal]);
  // Opened before the alternate screen, because it may print something.
  await connection.client();
  const seen = new Set<string>();
  const table = new LiveTable(invocation, ({ id, phaseDetail: detail }) => {
    if (detail?.kind !== "waiting" || seen.has(detail.requestId)) return;
    seen.add(detail.requestId);
    if (!detail.seen?.includes("command line")) void leaveReceipt(connection, id, detail.requestId);
  });
  const unlisten = listenToKeys((key) => (isQuit(key) ? quit.abort() : table.scroll(key)));
  // The terminal is restored even if something else ends the command.
  process.once("SIGTERM", () => quit.abort());
  const leave = screen.enterAlternateScreen();
  const read = async () => {
    table.budgets = await connection.client().then(budgetLine, () => table.budgets);
    if (table.hasQueued) table.learnQueue(await queuedTasks(connection));
  };
  const tick = setInterval(() => void read(), READ_MS);
  void read();
  table.start();
  try {
    for await (const { event } of liveEvents(connection, stop, { onlyLooks: true })) table.apply(event);
  } finally {
    clearInterval(tick);
    table.stop();
    unlisten();
    leave();
  }
  screen.hint("Running tasks keep running. List them: asyncagents ls");
  return signal.aborted ? EXIT.interrupted : EXIT.ok;
}

/** None if they cannot be read now. */
async function queuedTasks(connection: Invocation["connection"]): Promise<BackgroundTask[]> {
  try {
    const client = await connection.client();
    const { tasks } = await client.tasks({ status: ["running", "resumed"], limit: MOST_WAITING });
    return tasks.filter(({ phase }) => phase === "queued");
  } catch {
    return [];
  }
}

/** A receipt that fails is no reason to disturb anybody. */
async function leaveReceipt(connection: Invocation["connection"], id: string, requestId: string): Promise<void> {
  await connection
    .client()
    .then((client) => client.seen(id, { requestId, via: "command line" }))
    .catch(() => {});
}
