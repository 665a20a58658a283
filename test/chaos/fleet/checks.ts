/**
 * What must be true after the storm. Each check compares what the store says with what the agents really did, and with
 * what the database and the parents saw; it returns what is wrong, in words.
 */

import type { ScriptedSession } from "../../../src/hosts/scripted/sessions.ts";
import { INTERRUPTED } from "../../../src/model/evidence.ts";
import { isLive, type Task } from "../../../src/model/task.ts";
import { type Attempt, attemptsOf, isEnd, type Losses } from "./attempts.ts";
import type { Fleet, FleetServer } from "./fleet.ts";
import { finalText, lastAnswer, prompts } from "./real-work.ts";
import type { Seen, SeenEvent } from "./witness.ts";

const PAGE = 200;

/** A task that was accepted. */
export interface Expected {
  name: string;
  retries: number;
}

export interface Evidence {
  seen: Seen;
  losses: Losses;
  sessions: ReadonlyMap<string, ScriptedSession>;
  /** The names of the agents that wrote their last file. */
  done: ReadonlySet<string>;
}

export function checkTask(task: Task, expected: Expected, evidence: Evidence): string[] {
  const events = eventsOf(evidence.seen, task.id);
  const attempts = attemptsOf(events);
  const ends = events.filter(isEnd);
  const requeued = events.filter(({ type }) => type === "run.requeued").length;
  const wrong: string[] = [];
  if (isLive(task.status)) wrong.push("is not over");
  if (ends.length !== 1) wrong.push(`ended ${ends.length} times`);
  // Its process was lost between the session and the task, so nobody was told that it was accepted.
  const isRemnant = events[0]?.event.task?.owner === null && events[0].event.task.sessionId !== "";
  if (attempts.length !== (isRemnant ? 0 : requeued + 1))
    wrong.push(`began ${attempts.length} times, with ${requeued} retries`);
  if (requeued > expected.retries) wrong.push(`was retried ${requeued} times, and ${expected.retries} were asked for`);
  for (const attempt of attempts) wrong.push(...checkAttempt(attempt, evidence));
  const last = attempts.at(-1);
  const text = last ? textOf(last, evidence) : null;
  if (task.status === "completed") {
    if (text !== `done ${task.description}` || task.run.result !== text)
      wrong.push(`its agent said ${text} in ${task.sessionId}`);
    if (!evidence.done.has(task.description)) wrong.push("its agent did not write its file");
    if (last?.sessionId !== task.sessionId) wrong.push("was completed by an earlier attempt");
  } else if (task.status !== "error" || task.run.error !== INTERRUPTED) {
    wrong.push(`is ${task.status}: ${task.run.error}`);
  } else if (requeued < expected.retries) wrong.push(`has ${expected.retries - requeued} retries left`);
  return wrong.map((what) => `${task.description} ${what}; ${events.map(({ type }) => type).join(", ")}`);
}

export function eventsOf({ events }: Seen, taskId: string): SeenEvent[] {
  return events.filter((event) => event.taskId === taskId);
}

function textOf({ sessionId }: Attempt, { sessions }: Evidence): string | null {
  const session = sessions.get(sessionId);
  return session ? finalText(session) : null;
}

/** An attempt was prompted at most once, under a lease, and was cut short only because its process was lost. */
function checkAttempt(attempt: Attempt, evidence: Evidence): string[] {
  const { losses, sessions } = evidence;
  const { owner, sessionId, messageId, over } = attempt;
  const wrong: string[] = [];
  const session = sessions.get(sessionId);
  const sent = session ? prompts(session) : [];
  if (session === undefined) wrong.push(`has no transcript of ${sessionId}`);
  if (sent.length > 1 || sent.some(({ id }) => id !== messageId)) wrong.push(`was prompted ${sent.length} times`);
  for (const { at } of sent) {
    const lease = losses.lease(owner, at);
    if (lease === null || lease < at) wrong.push(`was prompted at ${at} by ${owner}, whose lease was ${lease}`);
  }
  if (over === null || over.type === "run.completed") return wrong;
  const loss = losses.of(owner, over.at);
  if (loss === null) return [...wrong, `was interrupted although ${owner} lived`];
  // Another process of the machine reads the transcript.
  if (loss.takers === "same" && session && finalText(session) !== null) {
    const times = `at ${lastAnswer(session)?.endedAt}, lost at ${loss.at}, over at ${over.at}`;
    wrong.push(`was interrupted although it had ended in ${sessionId} of ${owner}: ${times}`);
  }
  return wrong;
}

/** Sessions that were made for a claim which was lost before it began must never have been prompted. */
export function checkUnused(used: ReadonlySet<string>, { sessions }: Evidence): string[] {
  const unused = [...sessions.values()].filter(({ id }) => !used.has(id));
  return unused.filter((session) => prompts(session).length > 0).map(({ id }) => `nobody owns the prompt of ${id}`);
}

/** Each parent's transcript has one line about each of its tasks, and no other. */
export function checkTold(parent: ScriptedSession, tasks: readonly Task[]): string[] {
  const lines = prompts(parent).flatMap(({ text }) => text.split("\n"));
  const told = (id: string) => lines.filter((line) => line.startsWith(`Background task ${id} `));
  const wrong = tasks.flatMap(({ id, description, status }) => {
    const about = told(id);
    const isRight = about.length === 1 && about[0]?.includes(`: ${status === "completed" ? "completed" : "error"}.`);
    return isRight ? [] : [`the parent of ${description} was told ${about.length} times: ${about.join(" / ")}`];
  });
  const more = lines.filter((line) => line.startsWith("Background task ")).length - tasks.length;
  return more > 0 && wrong.length === 0 ? [`a parent was told ${more} more things`] : wrong;
}

/** Every server shows the same list: all pages of it. */
export async function listOf({ client }: FleetServer): Promise<unknown[]> {
  const found: unknown[] = [];
  for (;;) {
    const { tasks, total } = await client.tasks({ limit: PAGE, offset: found.length });
    found.push(...tasks);
    if (found.length >= total || tasks.length === 0) return found;
  }
}

/** All tasks in the store. */
export async function storedTasks({ store }: Fleet): Promise<Task[]> {
  const found: Task[] = [];
  for (;;) {
    const { tasks, total } = await store.tasks({ limit: PAGE, offset: found.length });
    found.push(...tasks);
    if (found.length >= total || tasks.length === 0) return found;
  }
}
