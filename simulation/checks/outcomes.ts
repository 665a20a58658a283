/**
 * How a run ended, compared with what happened to it: it is cancelled only if somebody stopped it, interrupted only if
 * a process died, and failed only in the way in which its agent did. Each run ends once.
 */
import { ABORTED, NO_OUTPUT, SESSION_DELETED, STOPPED_UNSEEN } from "../../src/model/evidence.ts";
import { isLive, type Run, type Task } from "../../src/model/task.ts";
import type { WorkEnd } from "../agents/work-log.ts";
import type { Stop } from "../scenario/promises.ts";
import type { Stage } from "../scenario/stage.ts";
import type { Fault } from "../world/faults.ts";
import { isInterrupted, isOthersStop, mayWorkOn } from "./ends.ts";

/** What keeps a process from storing that a run begins, or from knowing that it did. */
const STORE_FAILS: readonly Fault[] = ["query fails", "query fails after its commit", "disk is full"];

/** What keeps a process from hearing in time what a host says. */
const EVENTS_FAIL: readonly Fault[] = [
  "event is lost",
  "event comes late",
  "event overtakes another",
  "event comes twice",
];

/** The words of the product, and of a host that is asked for a session that it has not any more. */
const SESSION_GONE = /session was deleted|There is no scripted session/;

type EndCheck = (stage: Stage, task: Task, run: Run, endedAt: number, runs: readonly Run[]) => string | null;

export async function endsAreTrue(stage: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  for (const task of tasks) {
    const runs = await stage.truth.runs(task.id, 200);
    for (const run of runs) {
      const endedAt = stage.machine.ends.of(task.id, run.number);
      if (endedAt === null) continue;
      const wrong = [
        nobodyAsked,
        parentIsDeleted,
        isNotDeleted,
        nobodyDied,
        nothingOfTheKind,
        notWithoutOutput,
        stillWaiting,
      ]
        .map((check) => check(stage, task, run, endedAt, runs))
        .filter((words) => words !== null);
      found.push(...wrong.map((words) => `run ${run.number} of ${task.id} ${words}: ${run.error}`));
    }
  }
  return found;
}

/**
 * Nobody is told that somebody stopped a run that nobody stopped: a cancel is for one run, and what stops all tasks is
 * for those that run meanwhile. A deleted session stops its task.
 */
const nobodyAsked: EndCheck = (stage, task, run, endedAt, runs) => {
  const { machine, promises, parents } = stage;
  if (run.outcome !== "cancelled" || !machine.hasSession(task)) return null;
  if (promises.stoppedRuns.has(`${task.id} ${run.number}`)) return null;
  const begunAt = machine.begins.of(task.id, run.number) ?? 0;
  const isStoppedBy = ({ sessionId, from, until }: Stop) =>
    [task.sessionId, task.parentSessionId].includes(sessionId) && begunAt <= until && from <= endedAt;
  if (promises.stops.some(isStoppedBy)) return null;
  if (parents.some(({ id, isDeleted }) => id === task.parentSessionId && isDeleted)) return null;
  // Two programs work in one session: the stop of the other one shows there.
  const { ends, readersEnds } = machine.work.of(run.messageId);
  if (run.error === ABORTED && readersEnds.includes("aborted")) return null;
  // Another process went on with a run whose own process lived unseen: that one stopped its agent.
  if (isOthersStop(machine, task, run)) return null;
  // So does the stop of an earlier run's prompt, which arrived late in another program.
  const isLate = ({ messageId }: Run) => {
    const { ends: its, endedAt: at } = machine.work.of(messageId);
    return messageId !== run.messageId && its.includes("aborted") && at !== null && at >= begunAt && at <= endedAt;
  };
  if (run.error === ABORTED && runs.some(isLate)) return null;
  // Its own process stopped it and did not come to write that: nobody is named.
  if (run.error === STOPPED_UNSEEN && [...ends, ...readersEnds].includes("aborted")) return null;
  return "is cancelled, and nobody asked";
};

/** What a parent had launched is cancelled when it is deleted, unless its agent was done with it before. */
const parentIsDeleted: EndCheck = ({ machine, parents }, task, run, endedAt) => {
  const deletedAt = parents.find(({ id }) => id === task.parentSessionId)?.deletedAt;
  const begunAt = machine.begins.of(task.id, run.number) ?? 0;
  if (deletedAt === undefined || begunAt > deletedAt || endedAt < deletedAt) return null;
  if (run.outcome === "cancelled" || isInterrupted(run) || SESSION_GONE.test(run.error ?? "")) return null;
  const overAt = machine.work.of(run.messageId).firstEndedAt;
  if (overAt !== null && overAt < deletedAt) return null;
  return `is ${run.outcome}, and its parent was deleted ${Math.round((endedAt - deletedAt) / 1000)} s before`;
};

const isNotDeleted: EndCheck = ({ machine }, task, { error }) =>
  error === SESSION_DELETED && machine.hasSession(task) ? "has a session, which is said to be deleted" : null;

/** Where processes see each other, a run is lost only if a process died that had it, or the program of its agent. */
const nobodyDied: EndCheck = ({ machine }, { id }, run, endedAt) => {
  if (!machine.areVisible || !isInterrupted(run)) return null;
  const begunAt = machine.begins.of(id, run.number) ?? 0;
  const owners = machine.runs.ownersOf(id, run.number);
  if (owners.some((owner) => machine.wasLost(owner, begunAt, endedAt))) return null;
  // Its launch was left by a process that died, and becomes a task that is over at once.
  if (owners.length === 0 && begunAt === endedAt && machine.deaths.size > 0) return null;
  // The store failed when the run was to begin, and its caller was told so.
  if (machine.work.of(run.messageId).sentBy.length === 0 && STORE_FAILS.some((kind) => machine.faults.has(kind)))
    return null;
  return `is called interrupted, and no process that had it had died (${owners.map(({ name }) => name).join(", ")})`;
};

/** The errors that only an agent causes, by their words. */
const CAUSES: readonly { words: RegExp; end: WorkEnd }[] = [
  { words: /^The provider failed/, end: "failed" },
  { words: /^Agent not found/, end: "failed" },
  { words: /^stopped at its call of/, end: "denied" },
  { words: /^The operation was aborted/, end: "aborted" },
];

/**
 * In a session in which a person wrote too, the failure may be that of the other prompt. If two programs work there at
 * once, it may be that of the other one; and if this run had no output, a late event about the run before.
 */
const nothingOfTheKind: EndCheck = ({ machine }, { sessionId }, { messageId, error, number }) => {
  const cause = CAUSES.find(({ words }) => words.test(error ?? ""));
  if (cause === undefined || machine.written.has(sessionId)) return null;
  const { ends, readersEnds } = machine.work.of(messageId);
  if ([...ends, ...readersEnds].includes(cause.end)) return null;
  if (number > 0 && ends.includes("stopped") && machine.faults.has("event comes late")) return null;
  return `failed in another way than its agent (${ends.join(", ") || "never ended"})`;
};

/**
 * Only an agent that stopped has no output. One that a host rejects has none either, but the host says so. If two
 * programs worked in the session, it may be the other one that has none.
 */
const notWithoutOutput: EndCheck = ({ machine }, { sessionId }, { messageId, error }, endedAt) => {
  if (error !== NO_OUTPUT || machine.written.has(sessionId)) return null;
  const { begunAt, ends, readersEnds } = machine.work.of(messageId);
  if (readersEnds.length > 0) return null;
  const isRejected = begunAt === null && ends.includes("failed");
  if (isRejected) return EVENTS_FAIL.some((kind) => machine.faults.has(kind)) ? null : "was rejected by its host";
  const isBegun = begunAt !== null && begunAt < endedAt;
  return isBegun && !ends.includes("stopped") ? `had another end (${ends.join(", ") || "none"})` : null;
};

/**
 * A program has its prompt, and has not begun to work on it. The failure of a person's turn before it is taken for its
 * own: both are announced in the same way.
 */
const stillWaiting: EndCheck = ({ machine }, { id, sessionId }, run) => {
  if (!machine.ends.wasWaiting(id, run.number, run.messageId) || mayWorkOn(run)) return null;
  const isOfAPerson = machine.written.has(sessionId) && CAUSES.some(({ words }) => words.test(run.error ?? ""));
  return isOfAPerson ? null : "was called over before its agent had begun";
};

/** With one event and one outcome. */
export async function eachRunEndsOnce({ truth }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  for (const task of tasks) {
    const { id } = task;
    const ended = new Set<number>();
    for (const { event } of await truth.entriesOf([id], { after: 0, before: Number.MAX_SAFE_INTEGER }, 5_000)) {
      if (event.type !== "run.completed" && event.type !== "run.failed" && event.type !== "run.cancelled") continue;
      if (ended.has(event.run)) found.push(`run ${event.run} of ${id} ended twice`);
      ended.add(event.run);
    }
    for (const { number, outcome } of await truth.runs(id, 200)) {
      const isOpen = isLive(task.status) && number === task.run.number;
      if (outcome === null && !isOpen) found.push(`run ${number} of ${id} is over and has no outcome`);
      if (outcome !== null && !ended.has(number))
        found.push(`run ${number} of ${id} is ${outcome}, and no event says so`);
    }
  }
  return found;
}
