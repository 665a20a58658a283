/** `ls`: tasks as a table. Read-only. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { PHASES, STATUSES, TASK_SORTS, type TaskSort } from "../../model/task.ts";
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
import { lostReasons, taskTableColumns } from "../terminal/task-table.ts";
import { budgetLine } from "./spending/budget.ts";

const DEFAULT_LIMIT = 20;
const STATES = [...STATUSES, ...PHASES];

export const listCommand: Command = {
  name: "ls",
  aliases: ["list", "ps", "status"],
  summary: "list tasks: live ones first, then the newest",
  details: "With ids, or beginnings of ids, only those tasks.",
  operands: [{ name: "task", optional: true, repeated: true, completes: "task" }],
  options: {
    status: {
      value: "status",
      short: "s",
      multiple: true,
      summary: `${STATUSES.join(", ")}, live, or what a live task is doing: ${PHASES.join(", ")}`,
      completes: [...STATES, "live"],
    },
    agent: { value: "name", short: "a", summary: "only tasks of this agent" },
    host: { value: "host", summary: "only tasks of this host, or of an ACP agent (acp:codex)", completes: HOSTS },
    dir: { value: "path", short: "C", summary: "only tasks in this folder and its subfolders", completes: "directory" },
    since: { value: "time", summary: "only tasks that started in this period (2h, 3d), or since a date (2026-11-18)" },
    until: { value: "time", summary: "only tasks that started before this: 1h (ago), or a date (2026-11-18)" },
    sort: {
      value: "column",
      summary: `${TASK_SORTS.join(", ")}; newest, longest, costliest or A first; live tasks took and cost 0`,
      completes: TASK_SORTS,
    },
    reverse: { short: "r", summary: "with --sort: the other way round" },
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
      const columns = taskTableColumns(paint, Date.now(), width, given.text("sort") === "cost");
      const [header = "", ...rows] = tableLines(columns, tasks, { width, paint });
      for (const line of [header, ...rows]) screen.line(line);
      for (const reason of lostReasons(tasks, rows, Date.now())) screen.hint(reason);
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
  const folder = given.text("dir");
  const filter = {
    states: statesOf(given),
    search: given.text("search"),
    ...placeOf(given),
    directory: folder === undefined ? undefined : folderOf(resolve(cwd, folder)),
    since: sinceOf(given.text("since"), Date.now()),
    until: sinceOf(given.text("until"), Date.now(), "--until"),
    ...orderOf(given),
  };
  if (filter.since !== undefined && filter.until !== undefined && filter.until < filter.since)
    throw new AsyncAgentsError("invalid_input", "--until is before --since. Swap them.");
  const isNamed = given.operands.length > 0;
  if (isNamed && isFiltered(given))
    throw new AsyncAgentsError("invalid_input", "Name tasks, or choose them by options, not both.");
  const limit = given.flag("all") ? MAX_LISTED : (given.count("limit") ?? DEFAULT_LIMIT);
  const client = await connection.client();
  if (!isNamed) return { ...(await fetchListing(client, filter, limit)), exitCode: EXIT.ok };
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
  const isReverse = given.flag("reverse");
  if (sort === undefined && isReverse)
    throw new AsyncAgentsError("invalid_input", "--reverse needs --sort, such as --sort started.");
  if (sort === undefined) return { sort, order: undefined };
  const isText = sort === "description" || sort === "status";
  return { sort, order: isText === isReverse ? "desc" : "asc" };
}

/** `acp:codex` is the host acp with its agent codex. */
function placeOf(given: CommandArguments): { host: string | undefined; agent: string | undefined } {
  const [named, agent] = [given.text("host"), given.text("agent")];
  if (named === undefined) return { host: undefined, agent };
  const [host, own] = hostOf(executorNamed(named)).split(":");
  if (own !== undefined && agent !== undefined && agent !== own)
    throw new AsyncAgentsError("invalid_input", `--host ${named} and --agent ${agent} name two agents. Leave one out.`);
  return { host, agent: agent ?? own };
}

function isFiltered(given: CommandArguments): boolean {
  return ["status", "agent", "search", "host", "dir", "since", "until"].some((name) => given.has(name));
}

function noTasks(given: CommandArguments): string {
  return isFiltered(given) ? "No matching tasks." : 'No tasks. Launch one: asyncagents run "prompt"';
}

/** The path as the daemon knows it; a folder that is gone may still have tasks. */
function folderOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function statesOf(given: CommandArguments): (typeof STATES)[number][] | undefined {
  const words = given.texts("status").flatMap((text) => text.split(","));
  if (words.length === 0) return undefined;
  return words.flatMap((word): typeof STATES => {
    if (word === "live") return ["running", "resumed"];
    const state = STATES.find((each) => each === word);
    if (state) return [state];
    throw new AsyncAgentsError(
      "invalid_input",
      `"${word}" is not a status. --status takes ${STATES.join(", ")} or live.`,
    );
  });
}
