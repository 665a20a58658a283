/** `run`: launches a task in a folder, or starts an attempt in its own git worktree, and waits for it on request. */
import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { Client } from "../../client/client.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import { inspectRepo } from "../../worktree/git/repo.ts";
import type { Command, Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { waitForAttempt } from "../following/attempt-waiting.ts";
import { queuedReason } from "../following/task-hints.ts";
import { waitForTasks } from "../following/task-waiting.ts";
import { executorNamed, HOST_CHOICE, HOSTS } from "../host-names.ts";
import { resolveTasks } from "../identifiers.ts";
import { promptText, titleOf } from "../prompt-text.ts";
import {
  AFTER_OPTIONS,
  QUEUE_OPTIONS,
  RUN_OPTIONS,
  type RunChoices,
  readAfter,
  readQueueChoices,
  readRunChoices,
} from "../run-choices.ts";
import { outcomeText } from "../terminal/task-table.ts";
import { oneLine, shortId } from "../terminal/text.ts";

/** Leaves room for a suffix that tells it from a project of the same name. */
const MAX_NAME = 80;

export const runCommand: Command = {
  name: "run",
  summary: "launch a task in the background",
  details:
    "The task keeps running after this command exits. With --worktree it works in its own git worktree, on a new branch from the current one, as an attempt of the board: see `asyncagents attempt`.",
  operands: [{ name: "prompt", shown: '"prompt"' }],
  options: {
    host: { value: "host", summary: HOST_CHOICE, completes: HOSTS },
    agent: { value: "name", short: "a", summary: "the host's agent (default: the host's own default)" },
    dir: { value: "path", short: "C", summary: "the folder to work in (default: this one)", completes: "directory" },
    name: { value: "text", short: "n", summary: "a short description (default: the start of the prompt)" },
    ...RUN_OPTIONS,
    ...QUEUE_OPTIONS,
    ...AFTER_OPTIONS,
    worktree: { short: "w", summary: "work in a new git worktree" },
    wait: { summary: "wait until it ends, and print its result" },
    timeout: { value: "time", summary: "with --wait: stop waiting after this time, for example 30s or 10m" },
  },
  examples: [
    'asyncagents run "Find the TODOs and sort them by risk"',
    'asyncagents run --host claude --model sonnet --max-cost 2 "Review the last commit"',
    'asyncagents run --host claude --worktree --wait "Make the tests faster"',
    'asyncagents run --queue --label gpu --retry 1 "Train the small model"   # by any asyncagents runner',
    'asyncagents run --after 7KPnYJq "Check this: {{result:7KPnYJq}}"   # when that task has ended',
    "git diff | asyncagents run --wait -   # the prompt from stdin",
    'asyncagents run -- "--help is not documented: fix that"',
  ],
  run: runPrompt,
};

async function runPrompt(invocation: Invocation): Promise<number> {
  const { arguments: given, screen, cwd, connection } = invocation;
  const executor = executorNamed(given.text("host"));
  const folder = folderOf(resolve(cwd, given.text("dir") ?? "."));
  const timeoutMs = given.duration("timeout");
  const prompt = await promptText(given.operand(0));
  const variant = given.text("agent");
  const job: Job = {
    prompt,
    executor,
    folder,
    name: given.text("name") ?? titleOf(prompt),
    choices: { ...(variant === undefined ? {} : { variant }), ...readRunChoices(given) },
  };
  const queue = readQueueChoices(given);
  const { after, ifFailed } = readAfter(given);
  assertAfter(given);
  const client = await connection.client();
  if (given.flag("worktree")) return runInWorktree(invocation, client, job, timeoutMs);
  const launched = client.operate("launch_task", {
    prompt,
    description: job.name,
    directory: folder,
    executor,
    ...job.choices,
    ...(queue && { queue }),
    ...(after.length > 0 && { after: await resolveTasks(client, after) }),
    ...(ifFailed && { if_failed: ifFailed }),
  });
  const { handle } = await screen.during(queue ? "queueing the task" : "starting the agent", launched);
  const task = await client.task(handle);
  if (given.flag("wait")) return waitAndShow(invocation, task, timeoutMs);
  screen.show(task, () => screen.line(task.id));
  if (task.queue?.bound) {
    screen.hint(
      `Only a runner of this machine can do it, since its folder cannot be cloned: ${oneLine(task.queue.bound)}.`,
    );
  }
  if (after.length > 0) screen.hint(`It is in the batch ${task.batchId}.`);
  const reason = queuedReason(task, invocation);
  if (reason !== null) screen.hint(reason);
  const state =
    task.phaseDetail?.kind === "after" ? "waits for other tasks" : queue ? "waits for a runner" : "is running";
  screen.hint(
    `"${oneLine(task.description)}" ${state}. asyncagents logs -f ${shortId(task.id)} · wait · show · cancel`,
  );
  return EXIT.ok;
}

function assertAfter(given: Invocation["arguments"]): void {
  if (given.has("if-failed") && !given.has("after")) {
    throw new AsyncAgentsError("invalid_input", "--if-failed needs --after: add --after, or remove --if-failed.");
  }
  if (given.has("after") && given.flag("worktree")) {
    const message = "--after and --worktree exclude each other: an attempt starts at once.";
    throw new AsyncAgentsError("invalid_input", message);
  }
}

/** Prints the result, and nothing else, when a task completes. */
export async function waitAndShow(invocation: Invocation, task: BackgroundTask, timeoutMs?: number): Promise<number> {
  const { screen, connection } = invocation;
  const { tasks, ended, exitCode } = await waitForTasks(invocation, [task], { timeoutMs });
  if (!ended) return exitCode;
  const [last = task] = tasks;
  const whole = await (await connection.client()).task(last.id);
  screen.show(whole, () => {
    if (whole.status === "completed") screen.line((whole.result ?? "").trimEnd());
  });
  screen.hint(outcomeText(whole, screen.paint, Date.now()));
  return exitCode;
}

interface Job {
  prompt: string;
  executor: string;
  folder: string;
  name: string;
  choices: RunChoices & { variant?: string };
}

async function runInWorktree(
  invocation: Invocation,
  client: Client,
  job: Job,
  timeoutMs: number | undefined,
): Promise<number> {
  const { screen, arguments: given } = invocation;
  const repo = await inspectRepo(job.folder);
  if (repo.currentBranch === null) {
    const message = `${repo.root} has no branch checked out. Check one out (git switch <branch>), then try again.`;
    throw new AsyncAgentsError("branch_not_found", message);
  }
  const { project_id, repo_id } = await findOrAddRepo(client, repo.root);
  const { task_id } = await client.operate("create_task", { project_id, ...titled(job) });
  const started = client.operate("start_task_attempt", {
    task_id,
    executor: job.executor,
    repos: [{ repo_id, target_branch: repo.currentBranch }],
    prompt: job.prompt,
    ...job.choices,
  });
  const { attempt_id, warnings = [] } = await screen.during("creating the worktree", started);
  for (const warning of warnings) screen.hint(oneLine(warning));
  if (given.flag("wait")) return waitForAttempt(invocation, attempt_id, timeoutMs);
  screen.show({ item_id: task_id, attempt_id }, () => screen.line(attempt_id));
  screen.hint(
    `An agent is working on "${oneLine(job.name)}". asyncagents attempt show ${shortId(attempt_id)} · logs · diff · merge`,
  );
  return EXIT.ok;
}

/** The item keeps the prompt as its description for later attempts; the first attempt gets it exactly as typed. */
function titled({ name, prompt }: Job): { title: string; description?: string } {
  return name === prompt ? { title: name } : { title: name, description: prompt };
}

/** The board's repository at that path; if there is none, a project is created for it. */
async function findOrAddRepo(client: Client, root: string): Promise<{ project_id: string; repo_id: string }> {
  const found = await client.operate("find_repo", { path: root });
  if (found.project_id !== null && found.repo_id !== null)
    return { project_id: found.project_id, repo_id: found.repo_id };
  const project_id = await addProject(client, root);
  const { repo_id } = await client.operate("add_repo", { project_id, path: root });
  return { project_id, repo_id };
}

/** Named after the folder; if that name is in use, with a few letters derived from the path. */
async function addProject(client: Client, root: string): Promise<string> {
  const name = basename(root).slice(0, MAX_NAME);
  try {
    return (await client.operate("add_project", { name })).project_id;
  } catch (thrown) {
    if (!AsyncAgentsError.isInstance(thrown) || thrown.code !== "name_taken") throw thrown;
    const mark = createHash("sha256").update(root).digest("hex").slice(0, 6);
    return (await client.operate("add_project", { name: `${name}-${mark}` })).project_id;
  }
}

/** One canonical name per folder; otherwise two commands would start two engines in it. */
function folderOf(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(path);
  throw new AsyncAgentsError("invalid_input", `There is no folder ${path}. --dir names the folder to work in.`);
}
