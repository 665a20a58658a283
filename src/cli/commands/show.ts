/**
 * `show`: one task in detail, with what belongs to it elsewhere: its budgets, its attempt, who changed what, and the
 * names of machines. Read-only. Of what cannot be read, the rest is shown all the same.
 */
import { hostname } from "node:os";
import type { Client } from "../../client/client.ts";
import { givenText } from "../../model/answer.ts";
import { machineOf } from "../../process/machine.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import type { Command } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { resolveTask } from "../identifiers.ts";
import { fieldLines } from "../terminal/table.ts";
import { askedHint, taskFields, toldHint } from "../terminal/task-table.ts";
import { localTime, oneLine, shortId } from "../terminal/text.ts";
import { changeLines } from "./audit.ts";

type Field = [string, string];

/** The id of an attempt is the batch of its tasks; other batches have no such id. */
const ATTEMPT_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

export const showCommand: Command = {
  name: "show",
  summary: "show a task with its result",
  operands: [{ name: "task", completes: "task" }],
  examples: ["asyncagents show 7KPnYJq", "asyncagents show ses_e2287811 --json | jq -r .result"],
  async run({ arguments: given, connection, screen, directory }) {
    const client = await connection.client();
    const task = await client.task((await resolveTask(client, given.operand(0))).id);
    const now = Date.now();
    const budgets = await client.budgets({ task: task.id }).catch(() => []);
    if (screen.json) {
      screen.show({ ...task, budgets, runs: await client.runs(task.id) }, () => {});
      return EXIT.ok;
    }
    const changes = await changeLines(client, task.id, now);
    const fields = taskFields(task, screen.paint, now, await machineNames(client, task, directory));
    for (const { id, text } of budgets) fields.push(["budget", oneLine(`${id}: ${text}`)]);
    fields.push(...(await attemptFields(client, task)), ...answerFields(task));
    if (changes.length > 0) fields.push(["changes", changes.join("\n")]);
    for (const line of fieldLines(fields, screen.paint)) screen.line(line);
    for (const hint of [askedHint(task), toldHint(task)]) if (hint) screen.hint(hint);
    return EXIT.ok;
  },
};

/** By the identity that tasks name; runners tell theirs, and this machine knows its own. */
async function machineNames(
  client: Client,
  { machine, queue }: BackgroundTask,
  directory: string,
): Promise<ReadonlyMap<string, string>> {
  if (!machine && !queue?.machine) return new Map();
  const runners = await client.runners().catch(() => []);
  const names = new Map(
    runners.flatMap(({ machine: id, hostname: name }) => (id === null ? [] : [[id, name] as const])),
  );
  try {
    names.set(machineOf(directory), hostname());
  } catch {
    // The data folder is of somebody else, or damaged: `doctor` says so.
  }
  return names;
}

/** Where the work of an attempt is, and how it gets into the branch that it started from. */
async function attemptFields(client: Client, { batchId }: BackgroundTask): Promise<Field[]> {
  if (!ATTEMPT_ID.test(batchId)) return [];
  const attempt = await client.operate("get_attempt", { attempt_id: batchId }).catch(() => null);
  if (attempt === null) return [];
  const id = shortId(attempt.attempt_id);
  const places = attempt.repos.map(({ path, target_branch }) =>
    oneLine(`${path ?? "its worktree is gone"} (branch ${attempt.workspace_branch}, from ${target_branch})`),
  );
  const next = `asyncagents attempt diff ${id} shows its changes, asyncagents attempt merge ${id} merges them.`;
  return [
    ["attempt", `${attempt.attempt_id}, ${attempt.state}`],
    ["worktree", [...places, next].join("\n")],
  ];
}

/** How what it asked was answered: by a policy as by people. */
function answerFields({ answers = [] }: BackgroundTask): Field[] {
  if (answers.length === 0) return [];
  const lines = answers.map((answer) => {
    const asked = answer.asked === undefined ? "" : ` ← ${oneLine(answer.asked)}`;
    return oneLine(`${localTime(answer.at)} ${givenText(answer)}${asked}`);
  });
  return [["answered", lines.join("\n")]];
}
