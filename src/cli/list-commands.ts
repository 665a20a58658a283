/** `ls` and `show`: tasks as a table, and one task in full. Reads only. */
import type { Client } from "../client/client.ts";
import type { BackgroundTask, TaskStatus } from "../client/schemas.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { STATUSES } from "../model/task.ts";
import type { CommandArguments } from "./arguments.ts";
import type { Command } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { findTask } from "./identifiers.ts";
import { fieldLines, tableLines } from "./table.ts";
import { askedHint, taskColumns, taskFields, toldHint } from "./task-table.ts";

const DEFAULT_LIMIT = 20;
const PAGE = 200;
const MOST = 10_000;

export const listCommand: Command = {
  name: "ls",
  summary: "list tasks, newest first",
  options: {
    status: {
      value: "status",
      short: "s",
      multiple: true,
      summary: `${STATUSES.join(", ")}, or live`,
      completes: [...STATUSES, "live"],
    },
    agent: { value: "name", short: "a", summary: "only tasks of that agent" },
    search: { value: "text", summary: "only tasks with that in their description" },
    limit: { value: "number", short: "l", summary: `how many at most; ${DEFAULT_LIMIT} when absent` },
    all: { summary: "all of them" },
  },
  examples: ["asyncagents ls", "asyncagents ls --status live --json | jq -r '.tasks[].id'"],
  async run({ arguments: given, connection, screen }) {
    const query = { status: statusesOf(given), agent: given.text("agent"), search: given.text("search") };
    const limit = given.flag("all") ? MOST : (given.count("limit") ?? DEFAULT_LIMIT);
    const { tasks, total } = await readTasks(await connection.client(), query, limit);
    screen.show({ tasks, total }, () => {
      if (tasks.length === 0) return screen.hint('No tasks. Launch one: asyncagents run "prompt"');
      const { width, paint } = screen;
      for (const line of tableLines(taskColumns(paint, Date.now(), width), tasks, { width, paint })) screen.line(line);
      if (total > tasks.length) screen.hint(`${tasks.length} of ${total}; --all lists them all`);
    });
    return EXIT.ok;
  },
};

interface Filters {
  status: TaskStatus[] | undefined;
  agent: string | undefined;
  search: string | undefined;
}

async function readTasks(client: Client, filters: Filters, limit: number) {
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined));
  const tasks: BackgroundTask[] = [];
  for (;;) {
    const wanted = Math.min(PAGE, limit - tasks.length);
    const page = await client.tasks({ ...given, limit: wanted, offset: tasks.length });
    tasks.push(...page.tasks);
    if (page.tasks.length < wanted || tasks.length >= limit) return { tasks, total: page.total };
  }
}

function statusesOf(given: CommandArguments): TaskStatus[] | undefined {
  const words = given.texts("status").flatMap((text) => text.split(","));
  if (words.length === 0) return undefined;
  return words.flatMap((word): TaskStatus[] => {
    if (word === "live") return ["running", "resumed"];
    const status = STATUSES.find((each) => each === word);
    if (status) return [status];
    throw new AsyncAgentsError(
      "invalid_input",
      `"${word}" is no status. --status takes ${STATUSES.join(", ")} or live.`,
    );
  });
}

export const showCommand: Command = {
  name: "show",
  summary: "show a task with its result",
  operands: [{ name: "task", completes: "task" }],
  examples: ["asyncagents show 7KPnYJq", "asyncagents show ses_e2287811 --json | jq -r .result"],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const task = await client.task((await findTask(client, given.operand(0))).id);
    screen.show({ ...task, runs: screen.json ? await client.runs(task.id) : [] }, () => {
      for (const line of fieldLines(taskFields(task, screen.paint, Date.now()), screen.paint)) screen.line(line);
    });
    for (const hint of [askedHint(task), toldHint(task)]) if (hint) screen.hint(hint);
    return EXIT.ok;
  },
};
