/**
 * What must hold after every run, whatever happened in it. Each check compares what the store says with what the agents
 * did and what the parents can read, and says what is wrong in words.
 */

import { allTasks } from "../../src/engine/watching/all-tasks.ts";
import { INTERRUPTED } from "../../src/model/evidence.ts";
import type { Run, Task } from "../../src/model/task.ts";
import { isLive } from "../../src/model/task.ts";
import { transition } from "../../src/model/transition.ts";
import type { Stage } from "../scenario/stage.ts";
import { LEASE_MS } from "../time/promised.ts";
import type { Machine } from "../world/machine.ts";
import { startsAreInOrder, waitingForNobody } from "./after.ts";
import { budgetsAgree, tasksUseWhatTheirAgentsUse } from "./budgets.ts";
import { isGivenUp, isOthersStop, isStopped, isStoppedInHaste, isUnaware, mayWorkOn, SEARCH_MS } from "./ends.ts";
import { nothingGrows } from "./growth.ts";
import { everythingIsInTime } from "./in-time.ts";
import { eachRunEndsOnce, endsAreTrue } from "./outcomes.ts";
import { pausedRunsGoOnOnce } from "./pauses.ts";
import { heldQueuesWait, queuedPromptsRunOnce, queuesGoOn, queuesKeepTheirOrder } from "./queues.ts";
import { callsAreMadeOnce, nothingIsLeftInTheQueue, queuedTasksRunAsAsked } from "./runners.ts";

/** How long a write may take: it waits for the lock, and the query is slow. */
const WRITE_MS = 40_000;

type Check = (stage: Stage, tasks: readonly Task[]) => Promise<string[]> | string[];

const CHECKS: Check[] = [
  budgetsAgree,
  tasksUseWhatTheirAgentsUse,
  everythingEnded,
  nothingAcceptedIsLost,
  resultsAreTrue,
  endsAreTrue,
  eachRunEndsOnce,
  promptsAreSentOnce,
  pausedRunsGoOnOnce,
  eachEndIsToldOnce,
  nobodyWorksOn,
  replayGivesTheRows,
  queuedPromptsRunOnce,
  everythingIsInTime,
  queuesGoOn,
  heldQueuesWait,
  queuesKeepTheirOrder,
  nothingIsLeftBehind,
  nothingGrows,
  theLivingAreRegistered,
  onlyOwnersEndRuns,
  queuedTasksRunAsAsked,
  nothingIsLeftInTheQueue,
  callsAreMadeOnce,
  startsAreInOrder,
];

export async function checkAll(stage: Stage): Promise<string[]> {
  const ids = (await allTasks(stage.truth, {})).map(({ id }) => id);
  const tasks = (await Promise.all(ids.map((id) => stage.truth.task(id)))).filter((task) => task !== null);
  const found: string[] = [];
  for (const check of CHECKS) found.push(...(await check(stage, tasks)));
  return found;
}

async function everythingEnded(stage: Stage, tasks: readonly Task[]): Promise<string[]> {
  const { machine, truth, parents } = stage;
  const lost = await waitingForNobody(stage, tasks);
  const found = tasks
    .filter((task) => isLive(task.status) && !lost.has(task.id))
    .map(({ id, phase, owner }) => `task ${id} never ended (${phase}, owner ${owner})`);
  for (const { id } of await truth.launches()) found.push(`launch ${id} was never completed or given up`);
  for (const { id, isDeleted, place } of parents) {
    // Nobody can tell a session on a machine that is gone.
    if (machine.places.isLost(place)) continue;
    for (const state of ["pending", "sending"] as const) {
      for (const notice of await truth.notices(id, state)) {
        if (!isDeleted)
          found.push(`the notice about run ${notice.run} of ${notice.taskId} is still ${state} (${notice.reason})`);
      }
    }
  }
  return found;
}

/** What was answered with a run is that run, and nobody else's. */
async function nothingAcceptedIsLost({ truth, promises }: Stage): Promise<string[]> {
  const lost: string[] = [];
  for (const { id, run, prompt } of promises.accepted) {
    const own = (await truth.runs(id, 200)).find(({ number }) => number === run);
    if (!own) lost.push(`run ${run} of ${id} was accepted and is gone`);
    else if (own.prompt !== prompt)
      lost.push(`"${prompt}" was accepted as run ${run} of ${id}, which says: ${own.prompt}`);
  }
  return lost;
}

/** A completed run was answered, and its result is that answer; one whose agent answered is not called interrupted. */
async function resultsAreTrue({ machine, truth }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  for (const task of tasks) {
    for (const run of await truth.runs(task.id, 200)) {
      const { ends, readersEnds, answers, begun, begunAt, endedAt, sentBy } = machine.work.of(run.messageId);
      const what = `run ${run.number} of ${task.id}`;
      const isExcused = mayWorkOn(run) || isStoppedInHaste(machine, task, run) || isOthersAnswer(machine, task, run);
      if (machine.ends.wasWorking(task.id, run.number, run.messageId) && !isExcused)
        found.push(`${what} was called ${run.outcome} while its agent worked: ${run.error}`);
      // It arrived after it was given up, or answered after others had taken its process for dead: whether they could,
      // `in-time.ts` checks. They looked into its session a while before they wrote. Nobody can look into that of a
      // machine that is gone, and its lease has to be over first. A paused run ends only when its time has come.
      const overAt = machine.ends.of(task.id, run.number) ?? 0;
      const lostAt = machine.places.lostAt(machine.places.ofSession(task.sessionId) ?? "");
      const patience = WRITE_MS + (lostAt === null ? 0 : LEASE_MS);
      const knowableUntil = lostAt === null ? overAt : Math.min(overAt, lostAt + LEASE_MS);
      // A run is over when its session rests: it may go on with what a person wrote there.
      const isOfAPerson = machine.written.has(task.sessionId);
      const restedAt = isOfAPerson ? machine.work.restAfter(task.sessionId, endedAt ?? 0) : endedAt;
      const isUnseen = !machine.areVisible && machine.troubles.calm(restedAt ?? overAt, knowableUntil) <= patience;
      const isEnding = sentBy.some((name) => isEnded(machine, name, task.sessionId, endedAt ?? 0));
      const isLate = run.error === INTERRUPTED && ((endedAt ?? 0) > overAt || isUnseen || isEnding);
      const isTooLate = (begunAt ?? 0) > overAt || isLate || isUnknowable(machine, run, overAt);
      if (run.outcome === "completed") {
        if (answers.length === 0)
          found.push(`${what} is called completed, but its agent ended: ${ends.join(", ") || "never"}`);
        // Two programs worked in one session, and the other one read its prompt and stopped without a word.
        else if (![...answers, ...(readersEnds.includes("stopped") ? [""] : [])].includes(run.result ?? ""))
          found.push(`${what} has another result: ${run.result}`);
      } else if (run.outcome === "error" && ends.at(-1) === "answered" && !isStopped(run) && !isTooLate) {
        found.push(`${what} was answered and is called failed: ${run.error}`);
      } else if (
        run.error === INTERRUPTED &&
        ends.at(-1) === "failed" &&
        begun > 0 &&
        run.pauses === null &&
        !isTooLate
      ) {
        found.push(`${what} failed by itself and is called interrupted`);
      }
    }
  }
  return found;
}

/**
 * Two programs worked in one session, and the other one read its prompt and answered. Then its process stood still
 * until others took it for dead: they read that answer, and the process stops its own agent when it comes back.
 */
function isOthersAnswer({ work, ends }: Machine, { id }: Task, { number, messageId }: Run): boolean {
  const { readersEnds, sentBy } = work.of(messageId);
  return readersEnds.includes("answered") && !sentBy.includes(ends.writerOf(id, number) ?? "");
}

/** Its own process was asked to end: it answered after that, or its session could not be read in the time for that. */
function isEnded(machine: Machine, name: string, sessionId: string, endedAt: number): boolean {
  const from = machine.drained.get(name);
  return from !== undefined && (from <= endedAt || !machine.couldKnow(name, sessionId, endedAt));
}

/** It came after the time for which its session is searched, or the session could not be read for so long. */
function isUnknowable({ work, troubles }: Machine, run: Run, overAt: number): boolean {
  if (!isGivenUp(run)) return false;
  const { askedAt, begunAt } = work.of(run.messageId);
  return (begunAt ?? 0) - askedAt > SEARCH_MS || troubles.calm(askedAt, overAt) < SEARCH_MS;
}

async function promptsAreSentOnce({ machine, truth, promises }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  for (const task of tasks) {
    for (const run of await truth.runs(task.id, 200)) {
      const { askedAt, sentBy, begun, texts } = machine.work.of(run.messageId);
      const over = promises.overSince.get(`${task.id} ${run.number}`);
      const isLost = isUnaware(machine, task.id, run.number, sentBy);
      if (over !== undefined && askedAt > over && machine.work.isAsked(run.messageId) && !isLost)
        found.push(`run ${run.number} of ${task.id} was prompted after somebody was told that it is cancelled`);
      if (sentBy.length > 1)
        found.push(`the prompt of run ${run.number} of ${task.id} was sent by ${sentBy.join(" and ")}`);
      // A run that was paused goes on with another one.
      if (run.pauses === null && texts.some((text) => text !== run.prompt))
        found.push(`run ${run.number} of ${task.id} was sent another text: ${texts.join(" and ")}`);
      if (begun > 1) found.push(`run ${run.number} of ${task.id} was begun ${begun} times`);
    }
  }
  return found;
}

/** A message that only points to a late notice has none. */
const IS_NOTICE = /^(ended|waiting|retrying|stalled) /;

/** Counted in the parents' transcripts. */
async function eachEndIsToldOnce({ machine, truth, parents }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  const told = new Map<string, number>();
  const said = new Map<string, string>();
  for (const { id } of parents) {
    if (!machine.places.has("opencode", id)) continue;
    for (const message of machine.places.sessionsWith(id).get(id).messages) {
      if (message.role !== "user" || message.hidden === null) continue;
      for (const line of message.hidden.split("\n").filter((text) => IS_NOTICE.test(text))) {
        const [kind, task, run, topic, outcome] = line.split(" ");
        if (kind === "ended") said.set(`${task} ${run}`, outcome ?? "");
        const key = `${id} ${kind} ${task} ${run} ${topic}`;
        told.set(key, (told.get(key) ?? 0) + 1);
      }
    }
  }
  for (const [key, times] of told) if (times > 1) found.push(`told ${times} times: ${key}`);
  for (const task of tasks) {
    const parent = parents.find(({ id }) => id === task.parentSessionId);
    if (!parent || parent.isDeleted || machine.places.isLost(parent.place)) continue;
    for (const run of await truth.runs(task.id, 200)) {
      const words = said.get(`${task.id} ${run.number}`);
      if (words !== undefined && words !== run.outcome)
        found.push(`run ${run.number} of ${task.id} is ${run.outcome}, and its parent was told: ${words}`);
      if (run.outcome !== null && !told.has(`${parent.id} ended ${task.id} ${run.number} ended`)) {
        found.push(`the end of run ${run.number} of ${task.id} (${run.outcome}) was never told`);
      }
    }
  }
  return found;
}

/** Its prompt arrived after it was given up, and nobody heard of that: all events about it were lost. */
function isUnheard({ work }: Machine, run: Run): boolean {
  return isGivenUp(run) && work.of(run.messageId).heardAt === null;
}

/** On a prompt of ours: what a person asks of its session goes on for as long as that person likes. */
async function nobodyWorksOn({ machine, truth }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const working = new Set(machine.hosts.flatMap(({ program }) => program.prompts));
  const found: string[] = [];
  for (const task of tasks) {
    const { id, status } = task;
    if (isLive(status)) continue;
    const isExcused = (run: Run) => isUnheard(machine, run) || isOthersStop(machine, task, run);
    const runs = (await truth.runs(id, 200)).filter((run) => working.has(run.messageId) && !isExcused(run));
    found.push(...runs.map(({ number }) => `task ${id} is ${status}, and its agent works on its run ${number}`));
  }
  return found;
}

async function replayGivesTheRows({ truth }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const replayed = new Map<string, Task>();
  let seq = 0;
  for (;;) {
    const entries = await truth.feed(seq, 5_000);
    if (entries.length === 0) break;
    for (const { taskId, event } of entries) {
      const outcome = transition(replayed.get(taskId) ?? null, event);
      if (outcome.changed) replayed.set(taskId, outcome.task);
    }
    seq = entries.at(-1)?.seq ?? seq;
  }
  return tasks
    .filter((task) => !Bun.deepEquals(replayed.get(task.id), task))
    .map((task) => `the events of ${task.id} do not give its row: ${differences(replayed.get(task.id), task)}`);
}

function differences(one: object | undefined, other: object): string {
  const [a, b] = [Object.entries(one ?? {}), new Map(Object.entries(other))];
  return a
    .filter(([key, value]) => !Bun.deepEquals(value, b.get(key)))
    .map(([key, value]) => `${key}: ${JSON.stringify(value)} and ${JSON.stringify(b.get(key))}`)
    .join("; ");
}

/** Nobody waits any more: whoever listens to the feed is part of the process. */
function nothingIsLeftBehind({ roles }: Stage): string[] {
  return roles.flatMap(({ name, process, listeners = 0 }) =>
    process.isAlive && listeners > 0 ? [`${name} has ${listeners} forgotten listeners`] : [],
  );
}

/** Otherwise others take it for dead, and end what it does. */
async function theLivingAreRegistered({ roles, truth }: Stage): Promise<string[]> {
  const known = new Set((await truth.instances()).map(({ id }) => id));
  return roles
    .flatMap((role) => {
      const ids = [...role.engines().map(({ instance }) => instance.id), ...(role.instances?.() ?? [])];
      return ids.map((id) => ({ name: role.name, id }));
    })
    .filter(({ id }) => !known.has(id))
    .map(({ name, id }) => `${name} lives, and its instance ${id} is not registered`);
}

/** Where processes see each other, whoever owns a run and lives decides how it ends. */
async function onlyOwnersEndRuns({ machine, truth }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  for (const { id } of machine.areVisible ? tasks : []) {
    let owner: string | null = null;
    for (const { event } of await truth.entriesOf([id], { after: 0, before: Number.MAX_SAFE_INTEGER }, 5_000)) {
      if (event.type === "task.created") ({ owner } = event.task);
      else if ("owner" in event) ({ owner } = event);
      else if (event.type === "run.requeued") owner = null;
      const process = machine.instances.get(owner ?? "");
      if (
        !process ||
        !(event.type === "run.completed" || event.type === "run.failed" || event.type === "run.cancelled")
      )
        continue;
      const other = machine.ends.writtenBehind(process, id, event.run);
      if (other)
        found.push(`run ${event.run} of ${id} was ended by ${other.name} while its owner ${process.name} lived`);
    }
  }
  return found;
}
