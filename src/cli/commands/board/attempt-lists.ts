/** `attempt ls` and `attempt queued`: attempts as a table, and the prompts queued for one. Read-only. */
import type { OperationOutput } from "../../../protocol/operations.ts";
import type { Command, Invocation } from "../../command.ts";
import { PROJECT_OPTION } from "../../current-project.ts";
import { EXIT } from "../../exit-codes.ts";
import { hostOf } from "../../host-names.ts";
import { type AttemptEntry, allAttempts, resolveAttempt, resolveItem, resolveProject } from "../../identifiers.ts";
import type { Paint } from "../../terminal/paint.ts";
import { formatted } from "../../terminal/row-format.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { ago, oneLine, quantity, shortId } from "../../terminal/text.ts";

type State = OperationOutput<"get_attempt">["state"];

const DEFAULT_LIMIT = 20;
/** Below this width, what an attempt is about matters more than where it runs. */
const WIDE = 100;

export const attemptListCommand: Command = {
  name: "attempt ls",
  aliases: ["attempt list"],
  summary: "list attempts: of all items, of a project or of one item, newest first",
  operands: [{ name: "item", optional: true, completes: "item" }],
  options: {
    project: { ...PROJECT_OPTION, summary: "only attempts of this project" },
    limit: { value: "number", short: "l", summary: `maximum number (default ${DEFAULT_LIMIT})` },
    all: { summary: "list all" },
    quiet: { short: "q", summary: "print only ids" },
    format: { value: "text", summary: "print each in this format, with fields such as {attempt_id} and {state}" },
  },
  examples: ["asyncagents attempt ls", "asyncagents attempt ls 3f2a9c01", "asyncagents attempt ls -p shop -q"],
  async run(invocation) {
    const { arguments: given, screen } = invocation;
    const all = await chosenAttempts(invocation);
    const limit = given.flag("all") ? all.length : (given.count("limit") ?? DEFAULT_LIMIT);
    const attempts = all.slice(0, limit);
    const format = given.flag("quiet") ? "{attempt_id}" : given.text("format");
    screen.show({ attempts, total: all.length }, () => {
      if (format !== undefined) {
        for (const attempt of attempts) screen.line(formatted(format, attempt));
        return;
      }
      if (attempts.length === 0) return screen.hint("No attempts. Start one: asyncagents attempt start <item>");
      for (const line of tableLines(attemptColumns(screen.paint, attempts, screen.width), attempts, screen))
        screen.line(line);
      if (all.length > attempts.length) screen.hint(`${attempts.length} of ${all.length}; --all lists them all`);
    });
    return EXIT.ok;
  },
};

async function chosenAttempts({ arguments: given, connection }: Invocation): Promise<AttemptEntry[]> {
  const client = await connection.client();
  const [item, project] = [given.operands[0], given.text("project")];
  const projectId = project === undefined ? undefined : (await resolveProject(client, project)).id;
  const all = await allAttempts(client, projectId);
  if (item === undefined) return all;
  const itemId = await resolveItem(client, item);
  const own = all.filter(({ task_id }) => task_id === itemId);
  // An item that does not exist is a mistake, and not one without attempts.
  if (own.length === 0) await client.operate("get_task", { task_id: itemId });
  return own;
}

function attemptColumns(paint: Paint, rows: readonly AttemptEntry[], width: number): Column<AttemptEntry>[] {
  const isWide = width >= WIDE;
  const isQueued = rows.some(({ queued_count }) => queued_count > 0);
  const columns: (Column<AttemptEntry> | null)[] = [
    { title: "ID", cell: ({ attempt_id }) => shortId(attempt_id) },
    { title: "STATE", cell: ({ state }) => state, paint: (text, { state }) => paintedState(text, state, paint) },
    isWide ? { title: "HOST", cell: ({ executor }) => hostOf(executor), least: 6 } : null,
    { title: "STARTED", cell: ({ created_at }) => ago(created_at, Date.now()), right: true },
    isQueued ? { title: "QUEUED", cell: ({ queued_count }) => String(queued_count), right: true } : null,
    { title: "ITEM", cell: ({ task_title }) => task_title, least: 12 },
    isWide ? { title: "BRANCH", cell: ({ workspace_branch }) => workspace_branch, least: 12 } : null,
  ];
  return columns.filter((column) => column !== null);
}

export function paintedState(text: string, state: State, paint: Paint): string {
  if (state === "completed" || state === "merged") return paint.green(text);
  if (state === "failed") return paint.red(text);
  if (state === "stopped") return paint.dim(text);
  return state === "waiting" ? paint.yellow(text) : paint.blue(text);
}

export const queuedCommand: Command = {
  name: "attempt queued",
  summary: "show the queued prompts of an attempt",
  operands: [{ name: "attempt", completes: "attempt" }],
  examples: ["asyncagents attempt queued 9b1deb4d"],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const attempt_id = await resolveAttempt(client, given.operand(0));
    const queue = await client.operate("list_follow_ups", { attempt_id, limit: 200 });
    screen.show(queue, () => {
      if (queue.queued_count === 0) return screen.hint("Nothing is queued.");
      for (const [index, { message, variant, queued_at, error }] of queue.follow_ups.entries()) {
        const head = `${index + 1}.${variant === null ? "" : ` for ${oneLine(variant)},`} ${ago(queued_at, Date.now())}`;
        screen.line(screen.paint.bold(head));
        for (const line of message.trimEnd().split("\n")) screen.line(`  ${line}`);
        if (error !== null) screen.line(screen.paint.red(`  could not start: ${oneLine(error)}`));
      }
      const left = queue.queued_count - queue.follow_ups.length;
      if (left > 0) screen.hint(`${quantity(left, "more prompt")} after these.`);
      if (queue.queue_held !== null) screen.hint(`The queue is held. ${queue.queue_held}`);
    });
    return EXIT.ok;
  },
};
