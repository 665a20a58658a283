/** `wait`, `cancel`, `resume`, `fork`, `answer`: what a person does to a task that is there. The rules are the engine's. */
import type { BackgroundTask } from "../client/schemas.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { misuse } from "./arguments.ts";
import type { Command, Invocation, Operand } from "./command.ts";
import { EXIT } from "./exit-codes.ts";
import { findTask } from "./identifiers.ts";
import { promptText, titleOf } from "./prompt-text.ts";
import { waitAndShow } from "./run-command.ts";
import { taskSentence } from "./task-table.ts";
import { waitForTasks } from "./task-waiting.ts";
import { shortId } from "./text.ts";

const TASK: Operand = { name: "task", completes: "task" };
const PROMPT: Operand = { name: "prompt", shown: '"prompt"' };
const WAITING = {
  wait: { summary: "wait until it has ended, and print its result" },
  timeout: { value: "time", summary: "with --wait: give up waiting after, for example, 30s or 10m" },
};

export const waitCommand: Command = {
  name: "wait",
  summary: "wait until tasks have ended",
  details:
    "Exit code 0 when all completed, 1 when one failed or was cancelled, 4 when time ran out. Ctrl-C leaves them running.",
  operands: [{ ...TASK, repeated: true }],
  options: { timeout: { value: "time", short: "t", summary: "give up after, for example, 30s, 10m or 1h" } },
  examples: ["asyncagents wait 7KPnYJq", "asyncagents wait --timeout 10m 7KPnYJq c2VyaWFs && make"],
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const timeoutMs = given.duration("timeout");
    const client = await connection.client();
    const tasks = await Promise.all([...new Set(given.operands)].map((id) => findTask(client, id)));
    const onEnd = (task: BackgroundTask) => {
      if (!screen.json) screen.line(taskSentence(task, screen.paint, Date.now()));
    };
    const { tasks: seen, ended, exitCode } = await waitForTasks(invocation, tasks, { timeoutMs, onEnd });
    if (screen.json) screen.document({ tasks: seen, ended });
    return exitCode;
  },
};

export const cancelCommand: Command = {
  name: "cancel",
  summary: "cancel tasks that run",
  operands: [{ ...TASK, repeated: true }],
  examples: ["asyncagents cancel 7KPnYJq"],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const tasks = await Promise.all([...new Set(given.operands)].map((id) => findTask(client, id)));
    const cancelled: BackgroundTask[] = [];
    for (const { id } of tasks) cancelled.push(await screen.during("cancelling", client.cancel(id)));
    screen.show({ tasks: cancelled }, () => {
      for (const task of cancelled) screen.line(taskSentence(task, screen.paint, Date.now()));
    });
    return EXIT.ok;
  },
};

export const resumeCommand: Command = {
  name: "resume",
  summary: "continue a completed task with a new prompt",
  operands: [TASK, PROMPT],
  options: WAITING,
  examples: ['asyncagents resume 7KPnYJq "Now write the test" --wait'],
  run: (invocation) => continued(invocation, async ({ client, task, prompt }) => client.resume(task.id, prompt)),
};

export const forkCommand: Command = {
  name: "fork",
  summary: "launch a new task that knows all that a task knows",
  details: "The new task gets a copy of the session's history; the task itself stays as it is.",
  operands: [TASK, PROMPT],
  options: { name: { value: "text", short: "n", summary: "what it is about" }, ...WAITING },
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
  const found = await findTask(client, given.operand(0));
  const task = await screen.during("starting the agent", act({ client, task: found, prompt }));
  if (given.flag("wait")) return waitAndShow(invocation, task, timeoutMs);
  screen.show(task, () => screen.line(task.id));
  screen.hint(`It runs. asyncagents logs -f ${shortId(task.id)} · wait · show`);
  return EXIT.ok;
}

export const answerCommand: Command = {
  name: "answer",
  summary: "answer a task that asks for a permission or has a question",
  operands: [TASK, { name: "answer", shown: '"answer"', optional: true, repeated: true }],
  options: {
    once: { summary: "allow what it asks for, this time" },
    always: { summary: "allow it from now on" },
    reject: { summary: "refuse it, or turn the question down; an answer beside it is the reason" },
  },
  examples: ["asyncagents answer 7KPnYJq --once", 'asyncagents answer 7KPnYJq "PostgreSQL"'],
  async run(invocation) {
    const { arguments: given, connection, screen } = invocation;
    const decisions = (["once", "always", "reject"] as const).filter((name) => given.flag(name));
    const words = given.operands.slice(1);
    if (decisions.length > 1 || (decisions.length === 0 && words.length === 0)) {
      throw misuse(answerCommand, "Give one of --once, --always, --reject, or an answer.");
    }
    const client = await connection.client();
    const task = await findTask(client, given.operand(0));
    const asked = task.phaseDetail?.kind === "waiting" ? task.phaseDetail : null;
    if (!asked) throw new AsyncAgentsError("nothing_asked", `Task ${task.id} asks for nothing at the moment.`);
    const answered = await client.answer(task.id, replyFor(asked.asks, decisions[0], words));
    screen.show(answered, () => screen.line("Answered; the task goes on."));
    return EXIT.ok;
  },
};

function replyFor(
  asks: "permission" | "question",
  decision: "once" | "always" | "reject" | undefined,
  words: string[],
) {
  if (asks === "question") {
    if (decision === "once" || decision === "always") {
      throw new AsyncAgentsError("invalid_input", "It has a question: give the answer as text, or --reject.");
    }
    return { kind: "question" as const, answers: decision === "reject" ? null : words };
  }
  if (decision === undefined) {
    throw new AsyncAgentsError("invalid_input", "It asks for a permission: give --once, --always or --reject.");
  }
  return { kind: "permission" as const, decision, message: words.join(" ") || null };
}
