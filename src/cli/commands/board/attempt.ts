/**
 * `attempt start|show|logs|wait|stop|rm`: starts attempts and shows their state. Each command is one operation,
 * displayed for people.
 */
import type { Client } from "../../../client/client.ts";
import { AsyncAgentsError } from "../../../model/errors.ts";
import type { OperationOutput } from "../../../protocol/operations.ts";
import type { Command, Invocation } from "../../command.ts";
import { documentOf, eachOf } from "../../each-of.ts";
import { EXIT } from "../../exit-codes.ts";
import { taskOfAttempt, waitForAttempt } from "../../following/attempt-waiting.ts";
import { executorNamed, HOST_CHOICE, HOSTS, hostOf } from "../../host-names.ts";
import { allRepos, resolveAttempt, resolveItem, resolveRepo } from "../../identifiers.ts";
import { RUN_OPTIONS, readRunChoices } from "../../run-choices.ts";
import { ownProgress, ownWords } from "../../terminal/own-words.ts";
import type { Paint } from "../../terminal/paint.ts";
import { fieldLines } from "../../terminal/table.ts";
import { askedHint } from "../../terminal/task-table.ts";
import { ago, oneLine, quantity, shortId } from "../../terminal/text.ts";
import { logsCommand, showLogs } from "../logs.ts";
import { attemptListCommand, paintedState, queuedCommand } from "./attempt-lists.ts";

export const ATTEMPT = { name: "attempt", completes: "attempt" } as const;
type AttemptDetails = OperationOutput<"get_attempt">;

const start: Command = {
  name: "attempt start",
  summary: "start an agent on a work item, in its own git worktree",
  operands: [{ name: "item", completes: "item" }],
  options: {
    host: { value: "host", summary: HOST_CHOICE, completes: HOSTS },
    agent: { value: "name", short: "a", summary: "the host's agent (default: the host's own default)" },
    ...RUN_OPTIONS,
    repo: {
      value: "name",
      multiple: true,
      summary: "use only this repository of the project; name:branch also sets its branch",
    },
    branch: {
      value: "branch",
      short: "b",
      summary: "the branch to start from and merge into (default: the checked out branch)",
    },
    wait: { summary: "wait until it ends" },
    timeout: { value: "time", summary: "with --wait: stop waiting after this time, for example 30s or 10m" },
  },
  examples: [
    "asyncagents attempt start 3f2a9c01",
    "asyncagents attempt start 3f2a9c01 --host claude --branch develop --wait",
  ],
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const [executor, timeoutMs, variant] = [
      executorNamed(given.text("host")),
      given.duration("timeout"),
      given.text("agent"),
    ];
    const client = await connection.client();
    const task_id = await resolveItem(client, given.operand(0));
    const repos = await targets(invocation, client, task_id);
    const starting = client.operate("start_task_attempt", {
      task_id,
      executor,
      repos,
      ...readRunChoices(given),
      ...(variant === undefined ? {} : { variant }),
    });
    const started = await screen.during("creating the worktree", starting);
    for (const warning of started.warnings ?? []) screen.hint(oneLine(warning));
    if (given.flag("wait")) return waitForAttempt(invocation, started.attempt_id, timeoutMs);
    screen.show(started, () => screen.line(started.attempt_id));
    const id = shortId(started.attempt_id);
    screen.hint(`The agent is working. asyncagents attempt show ${id} · logs -f · diff · merge`);
    return EXIT.ok;
  },
};

async function targets({ arguments: given }: Invocation, client: Client, itemId: string) {
  const { task } = await client.operate("get_task", { task_id: itemId });
  const named = given.texts("repo").map((text) => text.split(":"));
  const wanted =
    named.length > 0
      ? await Promise.all(
          named.map(async ([name = "", branch]) => ({ ...(await resolveRepo(client, task.project_id, name)), branch })),
        )
      : (await allRepos(client, task.project_id)).map((repo) => ({ ...repo, branch: undefined }));
  if (wanted.length === 0) {
    const message = "The project has no repository. Add one: asyncagents project repo add <project> <path>";
    throw new AsyncAgentsError("missing_required", message);
  }
  return Promise.all(
    wanted.map(async ({ id, name, branch }) => {
      const target =
        branch ?? given.text("branch") ?? (await client.operate("find_repo", { repo_id: id })).current_branch;
      if (target) return { repo_id: id, target_branch: target };
      throw new AsyncAgentsError(
        "missing_required",
        `"${name}" has no branch checked out. Name one: --branch <branch>`,
      );
    }),
  );
}

const show: Command = {
  name: "attempt show",
  summary: "show an attempt: state, result, changes",
  operands: [ATTEMPT],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const attempt_id = await resolveAttempt(client, given.operand(0));
    const attempt = await client.operate("get_attempt", { attempt_id });
    screen.show(attempt, () => {
      for (const line of fieldLines(attemptFields(attempt, screen.paint), screen.paint)) screen.line(line);
    });
    const asking = attempt.asked ? await taskOfAttempt(client, attempt_id) : null;
    if (asking) screen.hint(askedHint(asking) ?? "");
    return EXIT.ok;
  },
};

function attemptFields(attempt: AttemptDetails, paint: Paint): (readonly [string, string])[] {
  const fields: [string, string][] = [
    ["attempt", attempt.attempt_id],
    ["item", attempt.task_id],
    ["state", paintedState(attempt.state, attempt.state, paint)],
    ["branch", attempt.workspace_branch],
    ["host", hostOf(attempt.executor)],
    ["started", `${attempt.created_at} (${ago(attempt.created_at, Date.now())})`],
    ["progress", oneLine(ownProgress(attempt.progress))],
  ];
  const noWorktree = attempt.state === "starting" ? "its worktree is being created" : "its worktree is gone";
  for (const repo of attempt.repos) {
    const changed = `${quantity(repo.files, "file")}, ${paint.green(`+${repo.insertions}`)} ${paint.red(`-${repo.deletions}`)} since ${repo.target_branch}`;
    const open = repo.uncommitted > 0 ? `, ${repo.uncommitted} uncommitted` : "";
    fields.push([repo.repo_name, `${changed}${open}\n${repo.path ?? noWorktree}`]);
  }
  if (attempt.queued_count > 0) {
    const held = attempt.queue_held === null ? "" : `\n${paint.yellow(`held: ${attempt.queue_held}`)}`;
    fields.push(["queued", `${quantity(attempt.queued_count, "follow-up")}${held}`]);
  }
  if (attempt.asked) fields.push(["asks", paint.yellow(`${attempt.asked.kind}: ${attempt.asked.text}`)]);
  if (attempt.error) fields.push(["error", paint.red(ownWords(attempt.error))]);
  if (attempt.final_message) fields.push(["result", attempt.final_message.trim()]);
  return fields;
}

const logs: Command = {
  name: "attempt logs",
  summary: "show the conversation of an attempt's latest session",
  operands: [ATTEMPT],
  options: logsCommand.options ?? {},
  async run(invocation) {
    const client = await invocation.connection.client();
    const task = await taskOfAttempt(client, await resolveAttempt(client, invocation.arguments.operand(0)));
    if (task) return showLogs(invocation, task);
    throw new AsyncAgentsError(
      "not_found",
      "The attempt has no session yet: it is still being set up, or the setup failed.",
    );
  },
};

const wait: Command = {
  name: "attempt wait",
  summary: "wait until an attempt ends, and print its result",
  details: "Exits with 0 if it completed, 1 if it failed or was stopped, 4 on a timeout. Ctrl-C leaves it running.",
  operands: [ATTEMPT],
  options: {
    timeout: { value: "time", short: "t", summary: "stop waiting after this time, for example 30s, 10m or 1h" },
  },
  examples: ["asyncagents attempt wait 9b1deb4d --timeout 1h && asyncagents attempt diff 9b1deb4d"],
  async run(invocation) {
    const timeoutMs = invocation.arguments.duration("timeout");
    const client = await invocation.connection.client();
    return waitForAttempt(invocation, await resolveAttempt(client, invocation.arguments.operand(0)), timeoutMs);
  },
};

const stop: Command = {
  name: "attempt stop",
  summary: "stop an attempt; its work stays in the worktree",
  operands: [{ ...ATTEMPT, repeated: true }],
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const client = await connection.client();
    const each = await eachOf(invocation, given.operands, async (named) => {
      const attempt_id = await resolveAttempt(client, named);
      const stopped = await screen.during("stopping", client.operate("stop_attempt", { attempt_id }));
      if (!screen.json) screen.line(`Attempt ${shortId(attempt_id)} is ${stopped.state}.`);
      return stopped;
    });
    if (screen.json) screen.document(documentOf("attempts", each));
    return each.exitCode;
  },
};

const remove: Command = {
  name: "attempt rm",
  summary: "remove an attempt with its worktrees and branches",
  operands: [{ ...ATTEMPT, repeated: true }],
  options: { force: { summary: "discard unmerged work" } },
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const client = await connection.client();
    const force = given.flag("force") ? { force: true } : {};
    const each = await eachOf(invocation, given.operands, async (named) => {
      const attempt_id = await resolveAttempt(client, named);
      const removing = client.operate("remove_attempt", { attempt_id, ...force });
      const removed = await screen.during("removing the worktrees", removing);
      if (!screen.json) screen.line(`Attempt ${shortId(attempt_id)} is removed.`);
      return removed;
    });
    if (screen.json) screen.document(documentOf("attempts", each));
    return each.exitCode;
  },
};

export const ATTEMPT_COMMANDS: readonly Command[] = [
  start,
  attemptListCommand,
  show,
  logs,
  wait,
  stop,
  remove,
  queuedCommand,
];
