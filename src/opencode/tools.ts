/**
 * The tools that a model sees. Each one parses its input, calls the engine and words the answer; an expected error
 * becomes an answer that says what to do. Descriptions are short, because they cost tokens in every request.
 */
import type { ToolContext, ToolDefinition, ToolResult } from "@opencode-ai/plugin";
import { z } from "zod";
import type { Engine } from "../engine/engine.ts";
import type { Caller } from "../engine/launch.ts";
import { afterOf } from "../engine/queue/after.ts";
import { type After, IF_FAILED, type IfFailed } from "../model/after.ts";
import { requireBudget } from "../model/budgets/budget-text.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { receiptText } from "../model/steering.ts";
import { awaitsOthers, isLive, type Task, WAKES, type Wake } from "../model/task.ts";
import { asLine, type NewMark } from "../model/text/foreign-text.ts";
import type { PluginInstance } from "./instance.ts";
import { headText, listLine, stateText, textOf, textPage } from "./task-text.ts";

const LISTED = 50;
const ERROR = 2000;
const TITLE = 500;
/** How long a call waits for the receipt of a message. */
const STEER_WAIT_MS = 3_000;
export const TOOL_NAMES = ["task", "output", "list", "cancel", "clear"] as const;

interface ToolHost {
  prefix: string;
  /** The engine once it is ready; rejects with the reason if it cannot start. */
  engine(): Promise<Engine>;
  /** The same, with what tasks in worktrees need. */
  instance(): Promise<Pick<PluginInstance, "engine" | "engineIn" | "taskWorktrees" | "mayUse">>;
  /** The session, agent and model of the caller. */
  caller(context: ToolContext): Promise<Caller>;
  /** The process ends with the turn, so a launch waits for its task. */
  waits: boolean;
  onLaunched(task: Task): void;
  newMark: NewMark;
}

interface TaskArguments {
  description?: string;
  prompt: string;
  agent?: string;
  fork?: boolean;
  resume?: string;
  steer?: string;
  batch?: string;
  wake?: Wake;
  after?: string[];
  if_failed?: IfFailed;
  budget?: string;
  worktree?: boolean;
}

export function tools(host: ToolHost): Record<string, ToolDefinition> {
  const { prefix } = host;
  const taskId = z.string().describe("Task id");
  return Object.fromEntries(
    Object.entries({
      task: define(
        "Launch a background agent. You are told when it ends, so do not poll. Or resume a completed one.",
        {
          description: z.string().optional().describe("3-6 words; required unless resume"),
          prompt: z.string().describe("What to do, self-contained"),
          agent: z.string().optional().describe("Agent name; required unless resume"),
          fork: z.boolean().optional().describe("Give it this conversation"),
          resume: z.string().optional().describe("Id of a completed task to continue"),
          steer: z.string().optional().describe("Id of a running task: tell it prompt"),
          batch: z.string().optional().describe("Group name"),
          after: z.array(z.string()).optional().describe("Start when these ids ended; {{result:ID}} in prompt"),
          if_failed: z.enum(IF_FAILED).optional().describe("If one of them fails"),
          worktree: z.boolean().optional().describe("Own git worktree and branch"),
          wake: z.enum(WAKES).optional().describe("Which ends start a turn; all: the group's last"),
          budget: z.string().optional().describe("Limits, like $2 30min 500ktok 5tasks"),
        },
        (input: TaskArguments, context) => launchOrResume(host, input, context),
      ),
      output: define(
        "State or result of a task.",
        {
          task_id: taskId,
          block: z.boolean().optional().describe("Wait until it ends or asks"),
          timeout: z.number().optional().describe("Longest wait in ms"),
          page: z.number().optional().describe("Page of a long result"),
        },
        (input: OutputArguments, context) => output(host, input, context),
      ),
      list: define("Your background tasks.", {}, (_input: object, context) => list(host, context)),
      cancel: define(
        "Cancel a task, a batch, or all your tasks.",
        {
          task_id: taskId.optional(),
          batch: z.string().optional().describe("Batch name or id"),
          all: z.boolean().optional(),
        },
        (input: CancelArguments, context) => cancel(host, input, context),
      ),
      clear: define(
        "Cancel what runs and empty the list. Tasks can still be resumed.",
        {},
        async (_input: object, context) => {
          const { cleared, cancelled } = await (await host.engine()).clear(context.sessionID);
          return `Cleared ${cleared} tasks (${cancelled} were running and are cancelled). They can still be resumed by id.`;
        },
      ),
    }).map(([name, definition]) => [`${prefix}_${name}`, definition]),
  );
}

function define<Input>(
  description: string,
  args: z.ZodRawShape,
  run: (input: Input, context: ToolContext) => Promise<ToolResult>,
): ToolDefinition {
  const schema = z.object(args);
  const execute = async (input: unknown, context: ToolContext): Promise<ToolResult> => {
    try {
      return await run(checkedInput(schema, input) as Input, context);
    } catch (thrown) {
      if (!AsyncAgentsError.isInstance(thrown)) throw thrown;
      return `Error (${thrown.code}): ${asLine(thrown.message, ERROR)}`;
    }
  };
  return { description, args, execute } as unknown as ToolDefinition;
}

/** OpenCode passes on what the model wrote, unchecked. Null means left out: models send it for what is optional. */
function checkedInput(schema: z.ZodObject, raw: unknown): unknown {
  const given = Object.fromEntries(Object.entries(raw ?? {}).filter(([, value]) => value !== null));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = String(issue?.path[0]);
  const form = issue?.code === "invalid_type" ? `a ${issue.expected}` : "valid";
  const problem = given[name] === undefined ? `${name} is missing. Give it as ${form}.` : `${name} must be ${form}.`;
  throw new AsyncAgentsError("invalid_input", problem);
}

async function launchOrResume(host: ToolHost, input: TaskArguments, context: ToolContext): Promise<ToolResult> {
  if (input.steer !== undefined) return steer(host, { ...input, steer: input.steer }, context);
  if (input.fork === true && input.resume !== undefined) {
    throw new AsyncAgentsError(
      "modes_exclusive",
      "fork and resume are mutually exclusive: fork starts a new task with this conversation, resume continues an old one. Give one of them.",
    );
  }
  const instance = await host.instance();
  const { engine } = instance;
  const caller = { ...(await host.caller(context)), handler: engine.instance.id };
  const { task, place = "" } =
    input.resume === undefined
      ? await launch(instance, caller, input, context)
      : { task: await resume(instance, caller, input.resume, input.prompt) };
  host.onLaunched(task);
  const shown = { title: asLine(task.description, TITLE), metadata: { taskId: task.id, sessionId: task.sessionId } };
  if (!host.waits) return { ...shown, output: `${launched(task)}${place}` };
  const ended = await engine.untilTold(task, context.abort);
  const output = `Task ${task.id} ran to its end here (${ended.status}), because this process ends with your reply. Its notice follows as a message.`;
  return { ...shown, output };
}

/** Waits a moment: the agent may be about to begin its next step. */
async function steer(host: ToolHost, input: TaskArguments & { steer: string }, context: ToolContext): Promise<string> {
  if (input.resume !== undefined || input.fork === true) {
    const message = "steer excludes fork and resume: it tells a running task something. Give one of them.";
    throw new AsyncAgentsError("modes_exclusive", message);
  }
  const [engine, caller] = [await host.engine(), await host.caller(context)];
  const wait = { timeout: STEER_WAIT_MS, signal: context.abort };
  const message = await engine.steer(caller, input.steer, input.prompt, wait);
  return `Message to task ${message.taskId} ${receiptText(message)}.`;
}

type Instance = Awaited<ReturnType<ToolHost["instance"]>>;

/** A task goes on with the engine of its directory, which hears its events and sees its status. */
async function resume(instance: Instance, caller: Caller, id: string, prompt: string): Promise<Task> {
  const { engine, engineIn, taskWorktrees } = instance;
  const task = await engine.find(caller.sessionId, id);
  const isHere = task.directory === engine.instance.directory || !(await taskWorktrees()).has(task);
  return (isHere ? engine : await engineIn(task.directory)).resume(caller, task.id, prompt);
}

async function launch(
  { engine, engineIn, taskWorktrees, mayUse }: Instance,
  caller: Caller,
  input: TaskArguments,
  context: ToolContext,
): Promise<{ task: Task; place?: string }> {
  const request = {
    description: (input.description ?? "").replaceAll(/\s+/g, " "),
    prompt: input.prompt,
    agent: input.agent ?? "",
    fork: input.fork ?? false,
    batch: input.batch ?? null,
    wake: input.wake,
    ...(input.after && { after: await ownTasks(engine, caller, input) }),
    ...(input.budget !== undefined && { budget: requireBudget(input.budget) }),
  };
  const agent = await engine.checkLaunch(caller, request);
  await context.ask({
    permission: "task",
    patterns: [agent.name],
    always: ["*"],
    metadata: { description: asLine(request.description, TITLE), subagent_type: agent.name },
  });
  if (input.worktree !== true) return { task: await engine.launch(caller, request, agent) };
  if (request.fork || input.after !== undefined) {
    const message = "worktree excludes fork, which works where this conversation does, and after. Give one of them.";
    throw new AsyncAgentsError("modes_exclusive", message);
  }
  const { directory } = engine.instance;
  const wanted = { id: crypto.randomUUID(), name: request.description, directory, mayUse };
  return (await taskWorktrees()).launch(wanted, async ({ directory: place, branch, warnings }) => {
    const own = await engineIn(place);
    const task = await own.launch(caller, request, await own.checkLaunch(caller, request));
    const notes = warnings.map((warning) => ` ${asLine(warning, TITLE)}`).join("");
    return { task, place: ` It works in ${place}, on branch ${branch}.${notes}` };
  });
}

/** Nobody waits for tasks that are not their own. */
async function ownTasks(engine: Engine, caller: Caller, { after = [], if_failed }: TaskArguments): Promise<After> {
  const { tasks, ifFailed } = afterOf(after, if_failed);
  const found: string[] = [];
  for (const id of tasks) found.push((await engine.find(caller.sessionId, id)).id);
  return { tasks: found, ifFailed };
}

function launched(task: Task): string {
  const what = task.run.number > 0 ? `resumed (resume #${task.run.number})` : "launched";
  return `Task ${task.id} ${what}: status ${awaitsOthers(task) ? stateText(task) : task.status}, agent ${task.agent}, batch ${task.batchId}. You will be told when it ends.`;
}

interface OutputArguments {
  task_id: string;
  block?: boolean;
  timeout?: number;
  page?: number;
}

async function output(host: ToolHost, input: OutputArguments, context: ToolContext): Promise<string> {
  const engine = await host.engine();
  if (input.timeout !== undefined && !(input.timeout >= 0)) {
    throw new AsyncAgentsError("invalid_input", "timeout must be a number of milliseconds, 0 or more.");
  }
  const timeout = input.timeout === undefined ? undefined : Math.min(input.timeout, 2_147_483_647);
  const wait = input.block === true ? { timeout, signal: context.abort } : null;
  const { task, waited } = await engine.output(context.sessionID, input.task_id, wait);
  const head = headText(task, Date.now());
  const note = waited === "timeout" ? `\nTime ran out after ${timeout} ms; the task goes on.` : "";
  const text = task.status === "completed" ? task.run.result : task.run.error;
  if (isLive(task.status)) return head + note;
  const changes = await changesOf(host, task);
  const done = changes === null ? "" : `\n\n${changes}`;
  if (text === null) return head + note + done;
  return `${head}${note}\n\n${pageText(host, task, text, input.page ?? 1)}${done}`;
}

/** What a task changed in a worktree of its own. */
async function changesOf(host: ToolHost, task: Task): Promise<string | null> {
  const { engine, taskWorktrees } = await host.instance();
  return task.directory === engine.instance.directory ? null : (await taskWorktrees()).textOf(task);
}

function pageText({ prefix, newMark }: ToolHost, task: Task, text: string, page: number): string {
  const found = textPage(text, page);
  if (!found)
    throw new AsyncAgentsError("invalid_input", `There is no page ${page}; leave page out to read from the start.`);
  const next = page < found.pages ? `; next: ${prefix}_output(task_id="${task.id}", page=${page + 1})` : "";
  const place = found.pages === 1 ? "" : ` (page ${page} of ${found.pages}${next})`;
  return textOf(task, { text: found.text, place }, newMark);
}

async function list(host: ToolHost, context: ToolContext): Promise<string> {
  const { tasks, total } = await (await host.engine()).list(context.sessionID, { limit: LISTED, offset: 0 });
  if (total === 0) return "No background tasks found";
  const now = Date.now();
  const rest = total > tasks.length ? [`… and ${total - tasks.length} older ones`] : [];
  return [...tasks.map((task) => listLine(task, now)), ...rest].join("\n");
}

interface CancelArguments {
  task_id?: string;
  batch?: string;
  all?: boolean;
}

async function cancel(host: ToolHost, input: CancelArguments, context: ToolContext): Promise<string> {
  const given = [input.task_id, input.batch, input.all === true ? "all" : undefined].filter(
    (value) => value !== undefined,
  );
  if (given.length !== 1) throw new AsyncAgentsError("invalid_input", "Give one of task_id, batch, or all: true.");
  const engine = await host.engine();
  const results =
    input.task_id !== undefined
      ? [await engine.cancel(context.sessionID, input.task_id)]
      : input.batch !== undefined
        ? await engine.cancelBatch(context.sessionID, input.batch)
        : await engine.cancelAll(context.sessionID);
  if (results.length === 0) return "Nothing was running; nothing was cancelled.";
  return results
    .map(({ task, asked }) =>
      asked
        ? `Task ${task.id}: the process that runs it was asked to cancel it`
        : `Task ${task.id}: ${stateText(task)}`,
    )
    .join("\n");
}
