/** `item …`: the board's work items. Each command is one operation, displayed for people. */

import { AsyncAgentsError } from "../../../model/errors.ts";
import { WORK_ITEM_STATUSES } from "../../../protocol/fields.ts";
import type { OperationInput } from "../../../protocol/operations.ts";
import type { Command } from "../../command.ts";
import { currentProject, PROJECT_OPTION } from "../../current-project.ts";
import { documentOf, eachOf } from "../../each-of.ts";
import { EXIT } from "../../exit-codes.ts";
import { type ItemEntry, projectItems, resolveItem } from "../../identifiers.ts";
import { promptText } from "../../prompt-text.ts";
import type { Paint } from "../../terminal/paint.ts";
import { type Column, fieldLines, tableLines } from "../../terminal/table.ts";
import { ago, oneLine, shortId } from "../../terminal/text.ts";

const ITEM = { name: "item", completes: "item" } as const;
type ItemStatus = (typeof WORK_ITEM_STATUSES)[number];

const add: Command = {
  name: "item add",
  summary: "add a work item to a project",
  details: "Title and description form the first prompt of an attempt. A description of - reads stdin.",
  operands: [
    { name: "title", shown: '"title"' },
    { name: "description", shown: '"description"', optional: true },
  ],
  options: { project: PROJECT_OPTION },
  examples: ['asyncagents item add "Faster tests" "They take 9 minutes; 3 would be good."'],
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const described = given.operands[1];
    const description = described === undefined ? {} : { description: await promptText(described) };
    const client = await connection.client();
    const project_id = await currentProject(invocation, client);
    const added = await client.operate("create_task", { project_id, title: given.operand(0), ...description });
    screen.show(added, () => screen.line(added.task_id));
    screen.hint(`Start an agent on it: asyncagents attempt start ${shortId(added.task_id)}`);
    return EXIT.ok;
  },
};

const list: Command = {
  name: "item ls",
  aliases: ["item list"],
  summary: "list a project's work items, newest first",
  options: {
    project: PROJECT_OPTION,
    status: { value: "status", short: "s", summary: WORK_ITEM_STATUSES.join(", "), completes: WORK_ITEM_STATUSES },
  },
  examples: ["asyncagents item ls", "asyncagents item ls --status inreview"],
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const status = statusOf(given.text("status"));
    const client = await connection.client();
    const project_id = await currentProject(invocation, client);
    const items = await projectItems(client, project_id, status);
    screen.show({ project_id, items }, () => {
      if (items.length === 0) return screen.hint('No items. Add one: asyncagents item add "title"');
      for (const line of tableLines(itemColumns(screen.paint), items, screen)) screen.line(line);
    });
    return EXIT.ok;
  },
};

function itemColumns(paint: Paint): Column<ItemEntry>[] {
  return [
    { title: "ID", cell: ({ id }) => shortId(id) },
    { title: "STATUS", cell: ({ status }) => status, paint: (text, item) => paintedStatus(text, item.status, paint) },
    {
      title: "ATTEMPT",
      cell: (item) => attemptWord(item),
      paint: (text, item) => (item.latest_attempt_state === "failed" ? paint.red(text) : text),
    },
    { title: "CHANGED", cell: ({ updated_at }) => ago(updated_at, Date.now()), right: true },
    { title: "TITLE", cell: ({ title }) => title, least: 12 },
  ];
}

function attemptWord({ latest_attempt_id, latest_attempt_state }: ItemEntry): string {
  return latest_attempt_id === null ? "-" : `${shortId(latest_attempt_id)} ${latest_attempt_state}`;
}

function paintedStatus(text: string, status: ItemStatus, paint: Paint): string {
  if (status === "done") return paint.green(text);
  if (status === "inreview") return paint.yellow(text);
  if (status === "inprogress") return paint.blue(text);
  return status === "cancelled" ? paint.dim(text) : text;
}

const show: Command = {
  name: "item show",
  summary: "show a work item with its latest attempt",
  operands: [ITEM],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const { task } = await client.operate("get_task", { task_id: await resolveItem(client, given.operand(0)) });
    screen.show(task, () => {
      const fields: [string, string][] = [
        ["id", task.id],
        ["title", oneLine(task.title)],
        ["status", paintedStatus(task.status, task.status, screen.paint)],
        ["attempt", `${attemptWord(task)}${task.latest_workspace_branch ? ` on ${task.latest_workspace_branch}` : ""}`],
        ["created", `${task.created_at} (${ago(task.created_at, Date.now())})`],
        ["changed", `${task.updated_at} (${ago(task.updated_at, Date.now())})`],
        ["description", task.description ?? "-"],
      ];
      for (const line of fieldLines(fields, screen.paint)) screen.line(line);
    });
    return EXIT.ok;
  },
};

const set: Command = {
  name: "item set",
  summary: "change a work item's title, description or status",
  operands: [ITEM],
  options: {
    title: { value: "text", short: "t", summary: "the new title" },
    description: { value: "text", short: "d", summary: "the new description; - reads stdin" },
    status: { value: "status", short: "s", summary: WORK_ITEM_STATUSES.join(", "), completes: WORK_ITEM_STATUSES },
  },
  examples: ["asyncagents item set 3f2a9c01 --status done"],
  async run({ arguments: given, connection, screen }) {
    const [title, described] = [given.text("title"), given.text("description")];
    const status = statusOf(given.text("status"));
    if (title === undefined && described === undefined && status === undefined) {
      throw new AsyncAgentsError("missing_required", "Say what to change: --title, --description or --status.");
    }
    const client = await connection.client();
    const change: OperationInput<"update_task"> = {
      task_id: await resolveItem(client, given.operand(0)),
      ...(title === undefined ? {} : { title }),
      ...(described === undefined ? {} : { description: await promptText(described) }),
      ...(status === undefined ? {} : { status }),
    };
    const { task } = await client.operate("update_task", change);
    screen.show(task, () => screen.line(`"${oneLine(task.title)}" is ${task.status}.`));
    return EXIT.ok;
  },
};

const remove: Command = {
  name: "item rm",
  summary: "delete a work item with its attempts and worktrees",
  details: "Refused while an attempt is running, or if unmerged work would be lost.",
  operands: [{ ...ITEM, repeated: true }],
  options: { force: { summary: "stop running attempts and discard unmerged work" } },
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const client = await connection.client();
    const force = given.flag("force") ? { force: true } : {};
    const each = await eachOf(invocation, given.operands, async (named) => {
      const task_id = await resolveItem(client, named);
      const deleting = client.operate("delete_task", { task_id, ...force });
      const deleted = await screen.during("removing the worktrees", deleting);
      if (!screen.json) screen.line(`Item ${shortId(task_id)} is deleted.`);
      return deleted;
    });
    if (screen.json) screen.document(documentOf("items", each));
    return each.exitCode;
  },
};

function statusOf(text: string | undefined): ItemStatus | undefined {
  if (text === undefined) return undefined;
  const status = WORK_ITEM_STATUSES.find((each) => each === text);
  if (status) return status;
  throw new AsyncAgentsError(
    "invalid_input",
    `"${text}" is not a status of an item. --status takes ${WORK_ITEM_STATUSES.join(", ")}.`,
  );
}

export const ITEM_COMMANDS: readonly Command[] = [add, list, show, set, remove];
