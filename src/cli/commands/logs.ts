/**
 * `logs`: a task's conversation, printed once or followed as it grows. Following ends with the task's run; Ctrl-C
 * leaves the task running.
 */
import type { Client } from "../../client/client.ts";
import { isLive } from "../../model/task.ts";
import type { LogMessage } from "../../protocol/conversations.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Command, Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { liveEvents } from "../following/live-events.ts";
import { TaskHints } from "../following/task-hints.ts";
import { resolveTask } from "../identifiers.ts";
import { finishedParts, partLines, type Speaker, speakerOf } from "../terminal/conversation.ts";
import { askedHint, outcomeText, reasonOf } from "../terminal/task-table.ts";
import { shortId } from "../terminal/text.ts";

const DEFAULT_MESSAGES = 50;
const PAGE = 50;
const MAX_PAGES_BACK = 20;

export const logsCommand: Command = {
  name: "logs",
  summary: "show a task's conversation",
  operands: [{ name: "task", completes: "task" }],
  options: {
    follow: { short: "f", summary: "keep printing until the task ends" },
    limit: { value: "number", short: "l", summary: `number of newest messages (default ${DEFAULT_MESSAGES})` },
    all: { summary: "all messages" },
  },
  examples: ["asyncagents logs 7KPnYJq", "asyncagents logs -f 7KPnYJq"],
  async run(invocation) {
    const task = await resolveTask(await invocation.connection.client(), invocation.arguments.operand(0));
    return showLogs(invocation, task);
  },
};

/** The conversation of a task, according to the options of `logs`; then why it failed or what it waits for. */
export async function showLogs(invocation: Invocation, task: BackgroundTask): Promise<number> {
  const { arguments: given, connection, screen } = invocation;
  const limit = given.flag("all") ? undefined : (given.count("limit") ?? DEFAULT_MESSAGES);
  const client = await connection.client();
  if (given.flag("follow")) return followLogs(invocation, client, task, limit);
  const { messages, before } = await readPage(client, task.id, limit);
  screen.show({ messages, before }, () => {
    let speaker: Speaker = null;
    for (const part of finishedParts(messages, true)) {
      for (const line of partLines(part, speaker, screen.paint, screen.width)) screen.line(line);
      speaker = speakerOf(part.message);
    }
    if (before !== null) screen.hint("Earlier messages are left out; --all shows them.");
    if (reasonOf(task, Date.now()) !== null) screen.hint(outcomeText(task, screen.paint, Date.now()));
    const asked = askedHint(task);
    if (asked !== null) screen.hint(asked);
  });
  return EXIT.ok;
}

function readPage(client: Client, id: string, limit: number | undefined) {
  return client.logs(id, limit === undefined ? {} : { limit: Math.min(limit, 200) });
}

async function followLogs(
  invocation: Invocation,
  client: Client,
  task: BackgroundTask,
  limit: number | undefined,
): Promise<number> {
  const { connection, screen, signal } = invocation;
  const printer = new LogPrinter(invocation);
  const hints = new TaskHints(invocation);
  printer.print((await readPage(client, task.id, limit)).messages);
  let last = task;
  try {
    for await (const { client: current, event } of liveEvents(connection, signal)) {
      if (event.type === "snapshot") last = await current.task(task.id, signal);
      else if ("task" in event && event.task.id === task.id) last = event.task;
      else continue;
      printer.print(await newestMessages(current, task.id, printer.known, signal));
      hints.see(last);
      await screen.flush();
      if (!isLive(last.status)) break;
    }
  } catch (thrown) {
    // A call that Ctrl-C aborted did not fail.
    if (!signal.aborted) throw thrown;
  }
  if (signal.aborted) {
    screen.hint(`Task ${shortId(task.id)} is still running. Follow it again: asyncagents logs -f ${shortId(task.id)}`);
    return EXIT.interrupted;
  }
  screen.hint(outcomeText(last, screen.paint, Date.now()));
  return EXIT.ok;
}

/** Reads back to a message that is already known; the first read fetches one page. */
async function newestMessages(
  client: Client,
  id: string,
  known: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<LogMessage[]> {
  const all: LogMessage[] = [];
  let before: string | undefined;
  for (let pages = 0; pages < MAX_PAGES_BACK; pages++) {
    const page = await client.logs(id, { limit: PAGE, ...(before === undefined ? {} : { before }) }, signal);
    all.unshift(...page.messages);
    if (page.before === null || known.size === 0 || page.messages.some((message) => known.has(message.id))) break;
    before = page.before;
  }
  return all;
}

class LogPrinter {
  /** Messages of which some part was printed. */
  readonly known = new Set<string>();
  readonly #printed = new Set<string>();
  readonly #invocation: Invocation;
  #speaker: Speaker = null;

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
  }

  print(messages: readonly LogMessage[]): void {
    const { screen } = this.#invocation;
    for (const part of finishedParts(messages, false)) {
      if (this.#printed.has(part.key)) continue;
      this.#printed.add(part.key);
      this.known.add(part.message.id);
      const { id, role, at, agent } = part.message;
      if (screen.json) screen.jsonLine({ message: id, role, at, agent, part: part.part });
      else for (const line of partLines(part, this.#speaker, screen.paint, screen.width)) screen.line(line);
      this.#speaker = speakerOf(part.message);
    }
  }
}
