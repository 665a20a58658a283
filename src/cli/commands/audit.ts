/** `audit`: who changed what, newest first; all of it, or about one task, attempt, work item or project. */
import type { Client } from "../../client/client.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { AuditPage } from "../../protocol/server.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { resolveTask } from "../identifiers.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { ago } from "../terminal/text.ts";

type Entry = AuditPage["entries"][number];

const SHOWN = 50;

export const auditCommand: Command = {
  name: "audit",
  summary: "list who changed what, newest first",
  details:
    "By: the name of a token, `local user`, or an agent. Without an id, everything that is kept: 100,000 changes, of which the oldest of whoever has the most go.",
  operands: [{ name: "id", optional: true, completes: "task" }],
  options: { limit: { value: "number", summary: `at most this many, up to 200; ${SHOWN} by default` } },
  examples: ["asyncagents audit", "asyncagents audit ses_e2287811"],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const [named] = given.operands;
    const subject = named === undefined ? undefined : await subjectOf(client, named);
    const limit = given.count("limit") ?? SHOWN;
    const { entries } = await client.audit({ limit, ...(subject !== undefined && { subject }) });
    screen.show({ entries }, () => {
      if (entries.length === 0) return screen.hint("No changes are recorded.");
      for (const line of tableLines(columns(Date.now()), entries, screen)) screen.line(line);
    });
    return EXIT.ok;
  },
};

/** A task can be named by a part of its id, as elsewhere; everything else by its whole id. */
async function subjectOf(client: Client, named: string): Promise<string> {
  try {
    return (await resolveTask(client, named)).id;
  } catch (thrown) {
    if (AsyncAgentsError.isInstance(thrown) && thrown.code === "task_not_found") return named;
    throw thrown;
  }
}

function columns(now: number): Column<Entry>[] {
  return [
    { title: "WHEN", cell: ({ at }) => ago(at, now) },
    { title: "BY", cell: ({ by }) => by, least: 8 },
    { title: "OPERATION", cell: ({ operation }) => operation },
    { title: "OUTCOME", cell: ({ outcome }) => outcome },
    { title: "ABOUT", cell: ({ subject }) => subject ?? "-", least: 8 },
  ];
}

/** `2m ago  cancel by ci`, one line for each change of a task. Empty if an older daemon records none. */
export async function changeLines(client: Client, taskId: string, now: number): Promise<string[]> {
  const page = await client.audit({ subject: taskId, limit: 20 }).catch(() => null);
  return (page?.entries ?? []).map(({ at, by, operation, outcome }) => {
    const end = outcome === "done" ? "" : ` (${outcome})`;
    return `${operation} by ${by}, ${ago(at, now)}${end}`;
  });
}
