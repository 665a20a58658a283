/**
 * `wait`, `cancel`, `edit`, `steer`, `resume`, `fork`: what a person does with an existing task. The engine enforces
 * the rules.
 */
import { AsyncAgentsError } from "../../model/errors.ts";
import { receiptText } from "../../model/steering.ts";
import type { BackgroundTask } from "../../protocol/tasks.ts";
import { misuse } from "../arguments.ts";
import type { Command, Invocation, Operand } from "../command.ts";
import { eachOf } from "../each-of.ts";
import { EXIT } from "../exit-codes.ts";
import { waitForTasks } from "../following/task-waiting.ts";
import { resolveTask, resolveTasks } from "../identifiers.ts";
import { promptText, titleOf } from "../prompt-text.ts";
import { AFTER_OPTIONS, readAfter } from "../run-choices.ts";
import { outcomeText, taskSentence } from "../terminal/task-table.ts";
import { oneLine, shortId } from "../terminal/text.ts";
import { waitAndShow } from "./run.ts";

const TASK: Operand = { name: "task", completes: "task" };
const PROMPT: Operand = { name: "prompt", shown: '"prompt"' };
/** How long `steer` waits for a receipt. */
const RECEIPT_MS = 10_000;
const LONGEST_RECEIPT_MS = 50_000;
const WAITING = {
  wait: { summary: "wait until it ends, and print its result" },
  timeout: { value: "time", summary: "with --wait: stop waiting after this time, for example 30s or 10m" },
};

export const waitCommand: Command = {
  name: "wait",
  summary: "wait until tasks end",
  details:
    "Exits with 0 if all completed, 1 if one failed or was cancelled, 4 on a timeout. Ctrl-C leaves them running.",
  operands: [{ ...TASK, repeated: true }],
  options: {
    timeout: { value: "time", short: "t", summary: "stop waiting after this time, for example 30s, 10m or 1h" },
  },
  examples: ["asyncagents wait 7KPnYJq", "asyncagents wait --timeout 10m 7KPnYJq c2VyaWFs && make"],
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const timeoutMs = given.duration("timeout");
    const client = await connection.client();
    const found = await eachOf(invocation, given.operands, (named) => resolveTask(client, named));
    const onEnd = (task: BackgroundTask) => {
      if (screen.json) return;
      screen.line(outcomeText(task, screen.paint, Date.now()));
    };
    const { tasks, ended, exitCode } = await waitForTasks(invocation, found.values, { timeoutMs, onEnd });
    if (screen.json) screen.document({ tasks, ended, errors: found.errors });
    return exitCode === EXIT.ok ? found.exitCode : exitCode;
  },
};

export const cancelCommand: Command = {
  name: "cancel",
  aliases: ["stop"],
  summary: "cancel running tasks",
  operands: [{ ...TASK, repeated: true }],
  examples: ["asyncagents cancel 7KPnYJq"],
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const client = await connection.client();
    const { values, errors, exitCode } = await eachOf(invocation, given.operands, async (named) => {
      const { id } = await resolveTask(client, named);
      const task = await screen.during("cancelling", client.cancel(id));
      if (!screen.json) screen.line(taskSentence(task, screen.paint, Date.now()));
      return task;
    });
    if (screen.json) screen.document({ tasks: values, errors });
    return exitCode;
  },
};

export const editCommand: Command = {
  name: "edit",
  summary: "change a task that waits to start",
  details:
    "--after replaces all tasks that it starts after. A task that has started cannot be changed: tell it something with steer, or cancel it.",
  operands: [TASK],
  options: {
    ...AFTER_OPTIONS,
    "after-nothing": { summary: "start it as soon as possible" },
    prompt: { value: "text", summary: "what to do instead; - reads it from stdin" },
  },
  examples: [
    "asyncagents edit 7KPnYJq --after c2VyaWFs --if-failed wait",
    'asyncagents edit 7KPnYJq --prompt "Check it twice: {{result:c2VyaWFs}}"',
    "asyncagents edit 7KPnYJq --after-nothing",
  ],
  async run({ arguments: given, connection, screen }) {
    const { after, ifFailed } = readAfter(given);
    const isFree = given.flag("after-nothing");
    if (isFree && after.length > 0) throw misuse(editCommand, "--after and --after-nothing exclude each other.");
    const text = given.text("prompt");
    if (after.length === 0 && !isFree && !ifFailed && text === undefined) {
      throw misuse(editCommand, "Say what to change: --after, --after-nothing, --if-failed or --prompt.");
    }
    const prompt = text === undefined ? undefined : await promptText(text);
    const client = await connection.client();
    const { id } = await resolveTask(client, given.operand(0));
    const task = await client.edit(id, {
      ...((isFree || after.length > 0) && { after: await resolveTasks(client, after) }),
      ...(ifFailed && { ifFailed }),
      ...(prompt !== undefined && { prompt }),
    });
    screen.show(task, () => screen.line(outcomeText(task, screen.paint, Date.now())));
    return EXIT.ok;
  },
};

export const tellCommand: Command = {
  name: "tell",
  summary: "notify a task's parent again if that failed",
  operands: [TASK],
  examples: ["asyncagents tell 7KPnYJq"],
  insteadWithText: 'To tell a running task something: asyncagents steer <task> "text".',
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const { id } = await resolveTask(client, given.operand(0));
    const task = await screen.during("notifying the parent", client.tell(id));
    screen.show(task, () => screen.line(taskSentence(task, screen.paint, Date.now())));
    screen.hint(`Check the delivery: asyncagents show ${shortId(id)}`);
    return EXIT.ok;
  },
};

export const steerCommand: Command = {
  name: "steer",
  summary: "tell a running task something",
  details:
    "The agent reads it at its next step. Waits some seconds for the receipt: delivered, once the agent took it up, or failed. Without one it prints how far the message is, and goes on by itself.",
  operands: [TASK, { name: "text", shown: '"text"' }],
  options: {
    "no-wait": { summary: "return as soon as the message is stored" },
    timeout: { value: "time", summary: "how long to wait for the receipt, at most 50s; 10s when absent" },
  },
  examples: ['asyncagents steer 7KPnYJq "Leave the tests alone"', 'asyncagents steer --no-wait 7KPnYJq "Hurry up"'],
  async run({ arguments: given, connection, screen }) {
    const waitMs = given.flag("no-wait") ? 0 : Math.min(given.duration("timeout") ?? RECEIPT_MS, LONGEST_RECEIPT_MS);
    const text = await promptText(given.operand(1));
    const client = await connection.client();
    const { id } = await resolveTask(client, given.operand(0));
    const receipt = await screen.during("waiting for the receipt", client.steer(id, { text, waitMs }));
    screen.show(receipt, () => screen.line(receiptText(receipt)));
    const isOpen = receipt.state === "accepted" || receipt.state === "sent";
    if (isOpen) screen.hint(`See what became of it: asyncagents steered ${shortId(id)}`);
    return receipt.state === "failed" ? EXIT.failed : EXIT.ok;
  },
};

export const steeredCommand: Command = {
  name: "steered",
  summary: "list what a task was told while it ran",
  operands: [TASK],
  options: { cancel: { value: "message", summary: "cancel this message, if it was not sent yet" } },
  examples: ["asyncagents steered 7KPnYJq", "asyncagents steered 7KPnYJq --cancel say_01k"],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const { id } = await resolveTask(client, given.operand(0));
    const cancelled = given.text("cancel");
    const told = await client.steering(id);
    const receipts = cancelled === undefined ? told : [await client.cancelSteering(messageId(told, cancelled))];
    screen.show(receipts, () => {
      for (const receipt of receipts) screen.line(`${receipt.id}  ${receiptText(receipt)}  ${oneLine(receipt.text)}`);
    });
    if (receipts.length === 0) screen.hint("It was told nothing while it ran.");
    return EXIT.ok;
  },
};

/** The message that this is the beginning of the id of. */
function messageId(told: readonly { id: string }[], given: string): string {
  const found = told.filter(({ id }) => id.startsWith(given));
  if (found[0] && (found.length === 1 || found[0].id === given)) return found[0].id;
  const what = found.length > 1 ? "Several messages of this task have an id like" : "This task was told no message";
  throw new AsyncAgentsError("not_found", `${what} "${given.slice(0, 60)}". Without --cancel, the command lists them.`);
}

export const resumeCommand: Command = {
  name: "resume",
  summary: "continue an ended task with a new prompt",
  operands: [TASK, PROMPT],
  options: WAITING,
  examples: ['asyncagents resume 7KPnYJq "Now write the test" --wait'],
  run: (invocation) => continued(invocation, async ({ client, task, prompt }) => client.resume(task.id, prompt)),
};

export const forkCommand: Command = {
  name: "fork",
  summary: "launch a new task with a copy of a task's history",
  details: "The new task gets a copy of the session's history; the original task is unchanged.",
  operands: [TASK, PROMPT],
  options: { name: { value: "text", short: "n", summary: "a short description" }, ...WAITING },
  examples: ['asyncagents fork 7KPnYJq "Try it with a cache instead"'],
  run: (invocation) =>
    continued(invocation, async ({ client, task, prompt }) => {
      const description = invocation.arguments.text("name") ?? titleOf(prompt);
      return client.fork(task.id, { prompt, description });
    }),
};

type Continue = (given: {
  client: Awaited<ReturnType<Invocation["connection"]["client"]>>;
  task: BackgroundTask;
  prompt: string;
}) => Promise<BackgroundTask>;

async function continued(invocation: Invocation, act: Continue): Promise<number> {
  const { arguments: given, connection, screen } = invocation;
  const timeoutMs = given.duration("timeout");
  const prompt = await promptText(given.operand(1));
  const client = await connection.client();
  const found = await resolveTask(client, given.operand(0));
  const task = await screen.during("starting the agent", act({ client, task: found, prompt }));
  if (given.flag("wait")) return waitAndShow(invocation, task, timeoutMs);
  screen.show(task, () => screen.line(task.id));
  screen.hint(`It is running. asyncagents logs -f ${shortId(task.id)} · wait · show`);
  return EXIT.ok;
}
