/** `ls`: tasks as a table. Read-only. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { STATUSES, TASK_SORTS, type TaskSort } from "../../model/task.ts";
import type { BackgroundTaskStatus } from "../../protocol/tasks.ts";
import type { CommandArguments } from "../arguments.ts";
import type { Command, Invocation } from "../command.ts";
import { eachOf } from "../each-of.ts";
import { EXIT } from "../exit-codes.ts";
import { executorNamed, HOSTS, hostOf } from "../host-names.ts";
import { resolveTask } from "../identifiers.ts";
import { sinceOf } from "../since.ts";
import { fetchListing, type Listing, MAX_LISTED } from "../task-listing.ts";
import { formatted } from "../terminal/row-format.ts";
import { tableLines } from "../terminal/table.ts";
import { taskTableColumns } from "../terminal/task-table.ts";
import { budgetLine } from "./spending/budget.ts";

const DEFAULT_LIMIT = 20;

export const listCommand: Command = {
  name: "ls",
  aliases: ["list", "ps", "status"],
  summary: "list tasks: live ones first, then the newest",
  operands: [{ name: "task", optional: true, repeated: true, completes: "task" }],
  options: {
    status: {
      value: "status",
      short: "s",
      multiple: true,
      summary: `${STATUSES.join(", ")}, or live`,
      completes: [...STATUSES, "live"],
    },
    agent: { value: "name", short: "a", summary: "only tasks of this agent" },
    host: { value: "host", summary: "only tasks of this host", completes: HOSTS },
    dir: { value: "path", short: "C", summary: "only tasks in this folder and its subfolders", completes: "directory" },
    since: { value: "time", summary: "only tasks that started in this period, for example 2h or 3d, or since a date" },
    until: { value: "time", summary: "only tasks that started before this, for example 1h (ago), or a date" },
    sort: {
      value: "column",
      summary: `${TASK_SORTS.join(", ")}; the largest first`,
      completes: TASK_SORTS,
    },
    reverse: { short: "r", summary: "with --sort: the smallest first" },
    search: { value: "text", summary: "only tasks with these words in their description, id or error" },
    limit: { value: "number", short: "l", summary: `maximum number (default ${DEFAULT_LIMIT})` },
    all: { summary: "list all" },
    quiet: { short: "q", summary: "print only ids" },
    format: { value: "text", summary: "print each in this format, with fields such as {id} and {status}" },
  },
  examples: [
    "asyncagents ls",
    "asyncagents ls --status live --dir . -q",
    "asyncagents ls --since 1d --format '{id}  {status}  {progress.cost}'",
    "asyncagents ls --since 7d --sort cost",
    "asyncagents ls --status live --json | jq -r '.tasks[].id'",
  ],
  async run(invocation) {
    const { arguments: given, screen } = invocation;
    const { tasks, total, exitCode } = await chosenTasks(invocation);
    const format = given.flag("quiet") ? "{id}" : given.text("format");
    const isTable = format === undefined && !screen.json;
    const client = await invocation.connection.client();
    const budgets = isTable ? await budgetLine(client) : "";
    const lost = isTable ? await client.troubles().catch(() => []) : [];
    screen.show({ tasks, total: total ?? tasks.length }, () => {
      if (format !== undefined) {
        for (const task of tasks) screen.line(formatted(format, task));
        return;
      }
      if (tasks.length === 0) return screen.hint(noTasks(given));
      const { width, paint } = screen;
      for (const line of tableLines(taskTableColumns(paint, Date.now(), width), tasks, { width, paint }))
        screen.line(line);
      if (total !== null && total > tasks.length) screen.hint(`${tasks.length} of ${total}; --all lists them all`);
      if (budgets !== "") screen.hint(budgets);
    });
    // The connection has reported what is wrong with the data folder.
    for (const { kind, message } of lost) if (kind === "notifications_failing") screen.hint(message);
    return exitCode;
  },
};

/** The named tasks, or those selected by the options. */
async function chosenTasks(invocation: Invocation): Promise<Listing & { exitCode: number }> {
  const { arguments: given, connection, cwd } = invocation;
  const [host, folder] = [given.text("host"), given.text("dir")];
  const filter = {
    status: statusesOf(given),
    agent: given.text("agent"),
    search: given.text("search"),
    host: host === undefined ? undefined : hostOf(executorNamed(host)),
    directory: folder === undefined ? undefined : folderOf(resolve(cwd, folder)),
    since: sinceOf(given.text("since"), Date.now()),
    until: sinceOf(given.text("until"), Date.now(), "--until"),
    ...orderOf(given),
  };
  const limit = given.flag("all") ? MAX_LISTED : (given.count("limit") ?? DEFAULT_LIMIT);
  const client = await connection.client();
  if (given.operands.length === 0) return { ...(await fetchListing(client, filter, limit)), exitCode: EXIT.ok };
  const { values, exitCode } = await eachOf(invocation, given.operands, (named) => resolveTask(client, named));
  return { tasks: values, total: null, exitCode };
}

function orderOf(given: CommandArguments): { sort: TaskSort | undefined; order: "asc" | "desc" | undefined } {
  const named = given.text("sort");
  const sort = TASK_SORTS.find((each) => each === named);
  if (named !== undefined && sort === undefined) {
    const message = `"${named.slice(0, 40)}" is not a column. --sort takes ${TASK_SORTS.join(", ")}.`;
    throw new AsyncAgentsError("invalid_input", message);
  }
  if (!given.flag("reverse")) return { sort, order: undefined };
  if (sort === undefined)
    throw new AsyncAgentsError("invalid_input", "--reverse needs --sort, such as --sort started.");
  return { sort, order: "asc" };
}

function noTasks(given: CommandArguments): string {
  const isFiltered = ["status", "agent", "search", "host", "dir", "since", "until"].some((name) => given.has(name));
  return isFiltered ? "No matching tasks." : 'No tasks. Launch one: asyncagents run "prompt"';
}

/** The path as the daemon knows it; a folder that is gone may still have tasks. */
function folderOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function statusesOf(given: CommandArguments): BackgroundTaskStatus[] | undefined {
  const words = given.texts("status").flatMap((text) => text.split(","));
  if (words.length === 0) return undefined;
  return words.flatMap((word): BackgroundTaskStatus[] => {
    if (word === "live") return ["running", "resumed"];
    const status = STATUSES.find((each) => each === word);
    if (status) return [status];
    throw new AsyncAgentsError(
      "invalid_input",
      `"${word}" is not a status. --status takes ${STATUSES.join(", ")} or live.`,
    );
  });
}
