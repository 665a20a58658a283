/**
 * What must hold when a seed has come to rest on real programs: the simulator's checks, as far as the store, OpenCode's
 * sessions and the model's requests show them. Each says what is wrong in words.
 */
import { isStopped } from "../../../simulation/checks/ends.ts";
import { allTasks } from "../../../src/engine/watching/all-tasks.ts";
import { isLive, type Run, type Task } from "../../../src/model/task.ts";
import type { MessageWithParts } from "../../../src/testing/opencode/client.ts";
import { OpenCodeHttpError } from "../../../src/testing/opencode/client.ts";
import type { RealStage } from "./real-stage.ts";
import { answerOf } from "./turn-script.ts";

/** A task with its runs and its session; null if somebody deleted it. */
interface Seen {
  task: Task;
  runs: Run[];
  messages: MessageWithParts[] | null;
}

type Check = (stage: RealStage, seen: readonly Seen[]) => Promise<string[]> | string[];

const CHECKS: Check[] = [everythingEnded, nothingAcceptedIsLost, resultsAreTrue, promptsArriveOnce, eachEndIsToldOnce];
/** An end in the hidden part of a notice, as against a question or a retry. */
const END = /^(?:--- (?:result|error) of task (ses_\w+)|Task (ses_\w+) (?:was cancelled|completed without))/gm;

export async function checkReal(stage: RealStage): Promise<string[]> {
  const ids = (await allTasks(stage.store, {})).map(({ id }) => id);
  const seen: Seen[] = [];
  for (const id of ids) {
    const task = await stage.store.task(id);
    if (task) {
      seen.push({ task, runs: await stage.store.runs(id, 200), messages: await messagesOf(stage, task.sessionId) });
    }
  }
  const found: string[] = [];
  for (const check of CHECKS) found.push(...(await check(stage, seen)));
  return found;
}

async function messagesOf({ processes }: RealStage, sessionId: string): Promise<MessageWithParts[] | null> {
  try {
    return (await processes[0]?.world.opencode.client.messages(sessionId)) ?? null;
  } catch (thrown) {
    if (thrown instanceof OpenCodeHttpError && thrown.status === 404) return null;
    throw thrown;
  }
}

async function everythingEnded(stage: RealStage, seen: readonly Seen[]): Promise<string[]> {
  const found = seen
    .filter(({ task }) => isLive(task.status))
    .map(({ task: { id, phase, owner } }) => `task ${id} never ended (${phase}, owner ${owner})`);
  for (const { id } of await stage.store.launches()) found.push(`launch ${id} was never completed or given up`);
  for (const { parent } of stage.livingParents()) {
    for (const state of ["pending", "sending"] as const) {
      for (const { run, taskId, reason } of await stage.store.notices(parent.sessionId, state)) {
        found.push(`the notice about run ${run} of ${taskId} is still ${state} (${reason})`);
      }
    }
  }
  for (const { name, world } of stage.processes) {
    for (const id of Object.keys(await world.opencode.client.statuses())) {
      if (seen.some(({ task }) => task.sessionId === id)) found.push(`${name} works on in ${id}`);
    }
  }
  return found;
}

/** What a person was answered, what a tool answered, and every session below a parent. */
async function nothingAcceptedIsLost(stage: RealStage, seen: readonly Seen[]): Promise<string[]> {
  const byId = new Map(seen.map(({ task }) => [task.id, task]));
  const found = [...stage.launched].filter((id) => !byId.has(id)).map((id) => `task ${id} was launched and is gone`);
  const resumed = new Set(stage.resumed);
  for (const { parent } of stage.livingParents()) {
    for (const { parts } of (await messagesOf(stage, parent.sessionId)) ?? []) {
      for (const part of parts) {
        if (part.type !== "tool" || part.state.status !== "completed") continue;
        const [, id, run] = /^Task (ses_\w+) (?:launched|resumed \(resume #(\d+)\))/.exec(part.state.output) ?? [];
        if (id) resumed.add(`${id} ${run ?? 0}`);
      }
    }
    for (const { id } of (await stage.processes[0]?.world.opencode.client.children(parent.sessionId)) ?? []) {
      // A session that was opened by a call which failed all the same stays empty.
      if (!byId.has(id) && (await messagesOf(stage, id))?.length) found.push(`an agent works in ${id}, without a task`);
    }
  }
  for (const resume of resumed) {
    const [id = "", run] = resume.split(" ");
    if ((byId.get(id)?.run.number ?? -1) < Number(run)) found.push(`run ${run} of ${id} was accepted and is gone`);
  }
  return found;
}

/** A completed run has a text that the model really gave in that session; an answered run is not called failed. */
function resultsAreTrue(stage: RealStage, seen: readonly Seen[]): string[] {
  const found: string[] = [];
  for (const { task, runs, messages } of seen) {
    const written = [...stage.prompts.values()].filter(({ writtenTo }) => writtenTo === task.sessionId);
    for (const run of runs) {
      const what = `run ${run.number} of ${task.id}`;
      if (run.outcome === "error" && messages && answerTo(messages, run.messageId) && !isStopped(run))
        found.push(`${what} was answered and is called failed: ${run.error}`);
      if (run.outcome !== "completed") continue;
      const name = nameIn(stage, run.prompt);
      const own = stage.prompts.get(name);
      const possible = [name, ...written.map((prompt) => prompt.name)].filter((each) => isAnswered(stage, task, each));
      const texts = possible.map(answerOf);
      if (own?.plan.end === "nothing" || written.some(({ plan }) => plan.end === "nothing")) texts.push("");
      // A prompt that was written to a busy session may take a turn of its own, after the end of its script.
      if (written.length > 0) texts.push("ok");
      if (!texts.includes(run.result ?? ""))
        found.push(`${what} has the result ${JSON.stringify(run.result)}, and the model said: ${texts.join(" | ")}`);
    }
  }
  return found;
}

function nameIn({ plan }: RealStage, text: string): string {
  return new RegExp(`script:seed-${plan.seed}-([\\w-]+)`).exec(text)?.[1] ?? "";
}

/** The model served the last answer of that prompt's script in the session. */
function isAnswered({ model, plan, prompts }: RealStage, { sessionId }: Task, name: string): boolean {
  const last = `seed-${plan.seed}-${name}#${prompts.get(name)?.lastStep}`;
  return model.requestsOf(sessionId).some(({ answeredBy, status }) => answeredBy === last && status === 200);
}

/** OpenCode's own record of a finished answer to that prompt, with text. */
function answerTo(messages: readonly MessageWithParts[], messageId: string): boolean {
  return messages.some(({ info, parts }) => {
    if (info.role !== "assistant" || info.parentID !== messageId || info.error) return false;
    if (info.time.completed === undefined || info.finish === undefined || info.finish === "tool-calls") return false;
    return parts.some((part) => part.type === "text" && part.text.trim() !== "");
  });
}

/** A turn began as often as the store has runs with that prompt, or less often. */
function promptsArriveOnce(stage: RealStage, seen: readonly Seen[]): string[] {
  const found: string[] = [];
  for (const { task, runs, messages } of seen) {
    // An agent whose session another process deleted loses its answers one by one, and reads its prompt as new.
    if (messages === null) continue;
    for (const name of new Set(runs.map(({ prompt }) => nameIn(stage, prompt)))) {
      const own = runs.filter(({ prompt }) => nameIn(stage, prompt) === name);
      const begun = turnsBegun(stage, task, name);
      if (begun > own.length) found.push(`"${name}" was begun ${begun} times in ${task.id}, for ${own.length} runs`);
      const arrived = messages.filter(
        ({ info, parts }) =>
          info.role === "user" && parts.some((part) => part.type === "text" && nameIn(stage, part.text) === name),
      );
      if (arrived.length > own.length)
        found.push(`"${name}" is ${arrived.length} times in ${task.id}, for ${own.length} runs`);
    }
  }
  return found;
}

/** Requests that answer the prompt itself and repeat no failed one. */
function turnsBegun(stage: RealStage, { sessionId }: Task, name: string): number {
  let failed = false;
  let begun = 0;
  for (const { request, status } of stage.model.requestsOf(sessionId)) {
    const last = request.turns.at(-1);
    const isFirst = last?.role === "user" && nameIn(stage, last.text) === name;
    if (isFirst && !failed) begun++;
    failed = isFirst && status === 503;
  }
  return begun;
}

/** Counted in the parents' transcripts. */
async function eachEndIsToldOnce(stage: RealStage, seen: readonly Seen[]): Promise<string[]> {
  const found: string[] = [];
  for (const { parent } of stage.livingParents()) {
    const told = new Map<string, number>();
    for (const { hidden } of await parent.notices()) {
      for (const [, one, other] of hidden.matchAll(END)) {
        const id = one ?? other ?? "";
        told.set(id, (told.get(id) ?? 0) + 1);
      }
    }
    for (const { task, runs } of seen) {
      if (task.parentSessionId !== parent.sessionId) continue;
      const ended = runs.filter(({ outcome }) => outcome !== null).length;
      const times = told.get(task.id) ?? 0;
      if (times !== ended) found.push(`${ended} ends of ${task.id} were told ${times} times`);
    }
  }
  return found;
}
