/** `budget …`: what tasks, batches and sessions may use, and how much of it is used. A person can raise a budget. */
import type { Client } from "../../../client/client.ts";
import { budgetBody } from "../../../protocol/budget-body.ts";
import type { WireBudget } from "../../../protocol/budgets.ts";
import type { Command } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { resolveTask } from "../../identifiers.ts";
import type { Paint } from "../../terminal/paint.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { oneLine } from "../../terminal/text.ts";

const NOTHING_LEFT = 1;
const NEARLY = 0.8;

const list: Command = {
  name: "budget ls",
  aliases: ["budget list"],
  summary: "list budgets, or those that a task counts in",
  operands: [{ name: "task", optional: true, completes: "task" }],
  options: { all: { summary: "also those without running tasks" } },
  examples: ["asyncagents budget ls", "asyncagents budget ls 7KPnYJq"],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const [named] = given.operands;
    const task = named === undefined ? {} : { task: (await resolveTask(client, named)).id };
    const isAll = named !== undefined || given.flag("all");
    const budgets = await client.budgets({ ...task, ...(!isAll && { inUse: "true" as const }), limit: 200 });
    screen.show({ budgets }, () => {
      if (budgets.length === 0) return screen.hint(isAll ? NONE : NONE_IN_USE);
      for (const line of tableLines(columns(screen.paint), budgets, screen)) screen.line(line);
    });
    return EXIT.ok;
  },
};

const set: Command = {
  name: "budget set",
  summary: "set what a task, a batch or a session may use",
  details:
    "A budget is written as '$2 30min 500ktok 5tasks': any of dollars, working time (min, h), tokens (tok, ktok, Mtok) and tasks. What is not named stays as it is; none removes all limits. It counts what was used before. When it is used up, what runs in it is stopped; after it was raised, the tasks can be resumed. Agents can only lower a budget.",
  operands: [
    { name: "what", shown: "<task | batch:ID | session:ID>", completes: "task" },
    { name: "budget", shown: "'$2 30min'" },
  ],
  examples: [
    "asyncagents budget set 7KPnYJq '$2 30min'",
    "asyncagents budget set batch:bat_7KPnYJq '$5'",
    "asyncagents budget set session:ses_e2287811 'none'",
  ],
  async run({ arguments: given, connection, screen }) {
    const body = budgetBody(given.operand(1));
    const client = await connection.client();
    const budget = await client.setBudget(await budgetIdOf(client, given.operand(0)), body);
    screen.show(budget, () => screen.line(`${budget.id}: ${oneLine(budget.text)}`));
    return EXIT.ok;
  },
};

const NONE = "No budgets. Set one: asyncagents budget set <task> '$2 30min'";
const NONE_IN_USE = "No budgets with running tasks. All of them: asyncagents budget ls --all";

export const BUDGET_COMMANDS: readonly Command[] = [list, set];

/** The budgets that apply to what runs now, as one line; empty if there are none, or the server knows none. */
export async function budgetLine(client: Client): Promise<string> {
  const budgets = await client.budgets({ inUse: "true", limit: 5 }).catch(() => []);
  return budgets.map(({ kind, subject, text }) => oneLine(`budget of ${kind} ${subject}: ${text}`)).join(" · ");
}

async function budgetIdOf(client: Client, given: string): Promise<string> {
  const task = /^task:(.+)$/.exec(given)?.[1] ?? (given.includes(":") ? null : given);
  return task === null ? given : `task:${(await resolveTask(client, task)).id}`;
}

function columns(paint: Paint): Column<WireBudget>[] {
  const colour = (text: string, { share }: WireBudget) => {
    if (share >= NOTHING_LEFT) return paint.red(text);
    return share >= NEARLY ? paint.yellow(text) : text;
  };
  return [
    { title: "BUDGET", cell: ({ id }) => id, least: 12 },
    { title: "USED", cell: ({ share }) => `${Math.floor(share * 100)} %`, right: true, paint: colour },
    { title: "RUNNING", cell: ({ live }) => String(live), right: true },
    { title: "OF WHAT", cell: ({ text }) => text, least: 20 },
    { title: "SET BY", cell: ({ setBy }) => setBy },
  ];
}
