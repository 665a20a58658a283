/** `stats`: what tasks did and used, in all, by agent, by day and by model. Read-only; the server counts. */
import type { Client } from "../../../client/client.ts";
import type { AgentStats, Stats, StatsHistory, StatsUsage } from "../../../protocol/statistics.ts";
import type { Command } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { sinceOf } from "../../since.ts";
import { money, shortNumber } from "../../terminal/figures.ts";
import type { Screen } from "../../terminal/screen.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { quantity, shortDuration } from "../../terminal/text.ts";

const DAY_MS = 86_400_000;
const DEFAULT_SINCE = "7d";
/** More days than this are shown as longer periods. */
const MOST_ROWS = 60;

type Tokens = AgentStats["tokens"];

interface Used {
  name: string;
  tasks: number;
  read: number;
  written: number;
  cost: number;
}

interface Period extends Used {
  byStatus: StatsHistory["buckets"][number]["byStatus"];
}

export const statsCommand: Command = {
  name: "stats",
  summary: "show figures: tasks by state, agents, tokens and cost",
  details:
    "Tasks are those that are stored. In the first part, ended runs, tokens, cost, tools and durations also count what removed and pruned tasks have used. Days and models are those of the tasks that are stored and started in the period; what a task used counts for the day of its start. Costs are as the agents' programs report them.",
  options: {
    since: {
      value: "time",
      summary: `the period for days and models, such as 30d, or a date (default ${DEFAULT_SINCE})`,
    },
  },
  examples: ["asyncagents stats", "asyncagents stats --since 30d", "asyncagents stats --json | jq .stats.agents"],
  async run({ arguments: given, connection, screen, signal }) {
    const since = sinceOf(given.text("since") ?? DEFAULT_SINCE, Date.now()) ?? 0;
    const client = await connection.client();
    const [stats, { history, usage }] = await Promise.all([
      client.stats(signal),
      readPeriod(client, since, Date.now(), signal),
    ]);
    screen.show({ stats, history, usage }, () => {
      showTotals(screen, stats);
      const periods = periodsOf(history, usage);
      if (periods.length === 0) return screen.line(`\nNo tasks since ${dayOf(history.from)}.`);
      screen.line();
      show(screen, periodColumns(history.bucketMs), periods);
      screen.line();
      show(screen, usedColumns("MODEL"), modelsOf(usage));
    });
    return EXIT.ok;
  },
};

/** Whole days of this machine's time zone. */
async function readPeriod(client: Client, since: number, now: number, signal: AbortSignal) {
  const first = new Date(since).setHours(0, 0, 0, 0);
  const days = Math.max(1, Math.ceil((now - first) / DAY_MS));
  const bucketMs = DAY_MS * Math.ceil(days / MOST_ROWS);
  const buckets = Math.ceil((days * DAY_MS) / bucketMs);
  const [from, to] = [new Date(first).toISOString(), new Date(first + buckets * bucketMs).toISOString()];
  const [history, usage] = await Promise.all([
    client.history({ from, to, buckets }, signal),
    client.usage({ from, to, buckets }, signal),
  ]);
  return { history, usage };
}

function showTotals(
  screen: Screen,
  { totalTasks, removedTasks, activeTasks, byStatus, duration, agents }: Stats,
): void {
  const { completed, error, cancelled } = byStatus;
  const states = `${activeTasks} live, ${completed} completed, ${error} failed, ${cancelled} cancelled`;
  screen.line(`${quantity(totalTasks, "task")}: ${states}`);
  if ((removedTasks ?? 0) > 0) {
    screen.line(
      `${quantity(removedTasks, "task")} removed since; the runs and the agents below include what these used`,
    );
  }
  if (duration.count > 0) {
    const { count, avg, max } = duration;
    screen.line(`${quantity(count, "ended run")}: ${shortDuration(avg)} on average, ${shortDuration(max)} at most`);
  }
  // A task that had no agent while it waited for a runner leaves nothing behind.
  const shown = agents.filter(({ tasks, toolCalls, tokens, cost }) => tasks + toolCalls + tokens.input + cost > 0);
  if (shown.length === 0) return;
  screen.line();
  const used = new Map(shown.map((agent) => [usedBy(agent), agent]));
  const columns: Column<Used>[] = [
    ...usedColumns("AGENT"),
    { title: "TOOLS", cell: (row) => shortNumber(used.get(row)?.toolCalls ?? 0), right: true },
    { title: "AVERAGE", cell: (row) => shortDuration(used.get(row)?.duration.avg ?? 0), right: true },
  ];
  show(screen, columns, [...used.keys()]);
}

function usedBy({ agent, tasks, tokens, cost }: AgentStats): Used {
  return { name: agent || "default", tasks, cost, ...readAndWritten(tokens) };
}

function readAndWritten({ input, cacheRead, cacheWrite, output, reasoning }: Tokens) {
  return { read: input + cacheRead + cacheWrite, written: output + reasoning };
}

/** One for each day in which a task started. */
function periodsOf({ buckets }: StatsHistory, { usage }: StatsUsage): Period[] {
  return buckets.map(({ at, byStatus }) => {
    const own = usage.filter((row) => row.at === at);
    return { ...sumOf(dayOf(at), own), byStatus };
  });
}

function modelsOf({ usage }: StatsUsage): Used[] {
  const models = Map.groupBy(usage, ({ model }) => model ?? "the agent's own choice");
  return [...models].map(([name, rows]) => sumOf(name, rows)).sort((one, other) => other.cost - one.cost);
}

function sumOf(name: string, rows: StatsUsage["usage"]): Used {
  const sum = { name, tasks: 0, read: 0, written: 0, cost: 0 };
  for (const { tasks, tokens, cost } of rows) {
    const { read, written } = readAndWritten(tokens);
    sum.tasks += tasks;
    sum.read += read;
    sum.written += written;
    sum.cost += cost;
  }
  return sum;
}

/** At noon, so that a change to summer time does not show a neighbouring day. */
function dayOf(time: string): string {
  const noon = new Date(Date.parse(time) + DAY_MS / 2);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${noon.getFullYear()}-${two(noon.getMonth() + 1)}-${two(noon.getDate())}`;
}

function usedColumns(title: string): Column<Used>[] {
  return [
    { title, cell: ({ name }) => name, least: 12 },
    { title: "TASKS", cell: ({ tasks }) => shortNumber(tasks), right: true },
    { title: "READ", cell: ({ read }) => shortNumber(read), right: true },
    { title: "WRITTEN", cell: ({ written }) => shortNumber(written), right: true },
    { title: "COST", cell: ({ cost }) => money(cost), right: true },
  ];
}

function periodColumns(bucketMs: number): Column<Period>[] {
  const [day, tasks, ...used] = usedColumns(bucketMs === DAY_MS ? "DAY" : `${bucketMs / DAY_MS} DAYS FROM`);
  const count = (title: string, status: keyof Period["byStatus"]): Column<Period> => ({
    title,
    cell: ({ byStatus }) => shortNumber(byStatus[status]),
    right: true,
  });
  const states = [count("DONE", "completed"), count("FAILED", "error"), count("CANCELLED", "cancelled")];
  return [day, tasks, ...states, ...used].filter((column) => column !== undefined);
}

function show<Row>(screen: Screen, columns: readonly Column<Row>[], rows: readonly Row[]): void {
  const { width, paint } = screen;
  for (const line of tableLines(columns, rows, { width, paint })) screen.line(line);
}
