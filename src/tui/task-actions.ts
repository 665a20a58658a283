/**
 * What a person can do about a task from the panel, as data, and the calls behind it. An answer names the request it is
 * for, so that it never reaches a newer one. The rules are the server's: what it refuses is said in its words.
 */
import type { Client } from "../client/client.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { questionsIn } from "../model/questions.ts";
import { asLine } from "../model/text/foreign-text.ts";
import type { AnswerBody } from "../protocol/tasks.ts";
import type { PanelTask, Request } from "./panel-task.ts";

const REASON = 500;

export interface TaskAction {
  title: string;
  /** What the person is asked to type, one after the other. */
  asks: readonly string[];
  /** Allows something: the person must have been shown all of it. */
  allows?: true;
  /** Cannot be undone: the person is asked this first, and says "Cancel" or "Confirm". */
  confirms?: string;
  /** Returns what to tell the person. */
  run(client: Client, given: readonly string[]): Promise<string>;
}

/** In the order in which they are offered. */
export function actionsOf(task: PanelTask): TaskAction[] {
  if (!task.isLive) return endedActions(task);
  return [...(task.request ? requestActions(task, task.request) : []), ...liveActions(task)];
}

function requestActions({ id }: PanelTask, request: Request): TaskAction[] {
  const requestId = request.id;
  if (request.kind === "blocked") {
    const run = async (client: Client) => {
      await client.edit(id, { ifFailed: "run_anyway" });
      return "It starts when the others have ended.";
    };
    return [{ title: "Start it all the same", asks: [], run }];
  }
  const reply = (said: string, body: (given: readonly string[]) => AnswerBody) => ({
    run: async (client: Client, given: readonly string[]) => {
      await client.answer(id, { ...body(given), requestId, via: "panel" });
      return said;
    },
  });
  if (request.kind === "question") {
    const decline = reply("Declined.", () => ({ kind: "question", answers: null }));
    return [
      {
        title: "Answer",
        asks: questionsIn(request.text),
        ...reply("Answered.", (given) => ({ kind: "question", answers: [...given] })),
      },
      { title: "Decline to answer", asks: [], ...decline },
    ];
  }
  const decide = (decision: "once" | "always" | "reject", said: string) =>
    reply(said, ([message = null]) => ({ kind: "permission", decision, message }));
  return [
    { title: "Allow once", asks: [], allows: true, ...decide("once", "Allowed this time.") },
    { title: "Allow always", asks: [], allows: true, ...decide("always", "Allowed from now on.") },
    { title: "Reject", asks: [], ...decide("reject", "Rejected.") },
    { title: "Reject, and say why", asks: ["What should it do instead?"], ...decide("reject", "Rejected.") },
  ];
}

function liveActions({ id, description, sessionId }: PanelTask): TaskAction[] {
  const steer: TaskAction = {
    title: "Tell it something while it works",
    asks: [`Tell "${description}":`],
    async run(client, [text = ""]) {
      const { state } = await client.steer(id, { text });
      return `The message is ${state}.`;
    },
  };
  const cancel: TaskAction = {
    title: "Cancel it",
    asks: [],
    confirms: "Stop this task?",
    async run(client) {
      await client.cancel(id);
      return "Cancelled.";
    },
  };
  return sessionId === "" ? [cancel] : [steer, cancel];
}

function endedActions(task: PanelTask): TaskAction[] {
  const { id, description, status } = task;
  const resume: TaskAction = {
    title: "Continue it with a message",
    asks: [`Continue "${description}" with:`],
    run: async (client, [prompt = ""]) => continued(client, id, prompt),
  };
  const retry: TaskAction = {
    title: "Retry: launch it again",
    asks: [],
    run: async (client) => launchedAgain(client, task),
  };
  return status === "completed" ? [resume, retry] : [retry, resume];
}

/** Where a task that failed cannot be resumed, a new one goes on with its history. */
async function continued(client: Client, id: string, prompt: string): Promise<string> {
  try {
    await client.resume(id, prompt);
    return "It continues.";
  } catch (thrown) {
    if (!AsyncAgentsError.isInstance(thrown) || thrown.code !== "task_not_resumable") throw thrown;
    await client.fork(id, { prompt });
    return "A new task continues with its history.";
  }
}

async function launchedAgain(client: Client, { id, host, directory }: PanelTask): Promise<string> {
  const { prompt, description, agent } = await client.task(id);
  await client.launch({ prompt, description, host, directory, ...(agent !== "" && { agent }) });
  return "Launched again as a new task, without a parent session. /tasks lists it.";
}

/** Why a task that waits for a runner still waits, and what to do; empty if one is about to begin it. */
export async function waitReasonOf(client: Client, id: string): Promise<string> {
  const { queue } = await client.task(id);
  return asLine(queue?.waitsFor ?? "", REASON);
}

/** How a task ended, in full, for reading. */
export async function outcomeOf(client: Client, id: string): Promise<string> {
  const { result, error, status } = await client.task(id);
  // It has been read now. That this could not be noted is no reason to hide it.
  await client.read(id).catch(() => undefined);
  return (status === "completed" ? result : error) || "It left no text.";
}
