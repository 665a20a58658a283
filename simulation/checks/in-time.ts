/**
 * What must happen soon, where nothing hinders it: an end is noticed, an ended run's agent does not work on, a cancel
 * is obeyed, and nobody is called interrupted or too slow, or given up, who was not. All times are virtual.
 */
import { INTERRUPTED } from "../../src/model/evidence.ts";
import type { Run, Task } from "../../src/model/task.ts";
import type { Work } from "../agents/work-log.ts";
import type { Stage } from "../scenario/stage.ts";
import type { Fault } from "../world/faults.ts";
import type { Machine } from "../world/machine.ts";
import { isGivenUp, isOthersStop, SEARCH_MS } from "./ends.ts";

/** Several calls in a row may take their longest time. */
const STOP_MS = 25_000;
const SLOW_STOP_MS = 60_000;
/** A call that fails takes up to 30 s; the pause after it doubles each time. */
const AGAIN_MS = 40_000;
const FIRST_PAUSE_MS = 500;
/** A process that comes back sees at once what is not its own any more. */
const STOP_AFTERMATH_MS = 20_000;
/** Several polls may be needed, besides those that fail. */
const NOTICED_MS = 90_000;
const NOTICED_POLLS = 6;
const CANCELLED_MS = 75_000;
/** Each of several tries may hang for half a minute, and the next one waits longer. */
const TOLD_MS = 240_000;
const MARGIN_MS = 60_000;
/** A request is heard of by its event, or by a poll if that is lost. */
const HEARD_MS = 30_000;

/** What keeps a living process from sending its heartbeats, besides troubles. */
const HOLDS_UP: readonly Fault[] = ["query is slow", "query times out after its commit"];

export async function everythingIsInTime(stage: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [...stage.promises.broken, ...new Set(stage.machine.broken)];
  const runsOf = new Map<Task, Run[]>();
  for (const task of tasks) runsOf.set(task, await stage.truth.runs(task.id, 200));
  for (const [task, runs] of runsOf) {
    const batch = tasks.filter(({ batchId }) => batchId === task.batchId);
    const ends = batch.flatMap((each) =>
      (runsOf.get(each) ?? []).flatMap(({ number }) => stage.machine.ends.of(each.id, number) ?? []),
    );
    for (const run of runs) {
      const endedAt = stage.machine.ends.of(task.id, run.number);
      if (endedAt === null) continue;
      const what = `run ${run.number} of ${task.id}`;
      const late = toldLate(stage, task, run, task.wake === "all" ? ends : [endedAt]);
      if (late !== null) found.push(`${what} ${late}`);
      const wrong = [worksOn, noticedLate, cancelledLate, wronglyInterrupted, wronglyTooLong, givenUpEarly]
        .map((check) => check(stage, task, run, endedAt, runs))
        .filter((words) => words !== null);
      found.push(...wrong.map((words) => `${what} ${words}`));
    }
  }
  return found;
}

type RunCheck = (stage: Stage, task: Task, run: Run, endedAt: number, runs: readonly Run[]) => string | null;

/** Whoever works on a prompt whose run has ended is stopped soon; a stop that fails is tried again. */
const worksOn: RunCheck = ({ machine }, task, run, endedAt) => {
  const { number, messageId, outcome } = run;
  if (isOthersStop(machine, task, run)) return null;
  // Deleted in another program than the one that works in it: nobody can name it any more to stop it.
  if (!machine.hasSession(task)) return null;
  const { askedAt, heardAt, begunAt, firstEndedAt, endedAt: stoppedAt } = machine.work.of(messageId);
  if (begunAt === null || stoppedAt === null) return null;
  // Its own work was over; its prompt was read once more, with what somebody else wrote there.
  if (firstEndedAt !== null && firstEndedAt <= endedAt) return null;
  // A prompt that arrives after it was given up is stopped if the process that sent it hears of its arrival. The word
  // that it was given up may be stored later.
  const overAt = isGivenUp(run) ? Math.min(endedAt, askedAt + SEARCH_MS) : endedAt;
  if (begunAt > overAt && heardAt === null) return null;
  // One that arrives beside a later run of its session waits until that run is over: stopping it stops both.
  if (begunAt > endedAt && number < task.run.number) return null;
  const from = Math.max(endedAt, begunAt, heardAt ?? 0);
  const tries = machine.work.stopsOf(task.sessionId).filter((at) => at > from && at < stoppedAt);
  const isSlow = machine.faults.has("query is slow") || machine.faults.has("call is slow");
  // A stop that began before its agent did may be lost.
  const firstMs = isSlow ? SLOW_STOP_MS : machine.faults.has("call fails") ? AGAIN_MS : STOP_MS;
  const times = [from, ...tries, stoppedAt];
  for (const [count, next] of times.slice(1).entries()) {
    const ms = machine.troubles.calm(times[count] ?? 0, next, STOP_AFTERMATH_MS);
    const limit = count === 0 ? firstMs : AGAIN_MS + FIRST_PAUSE_MS * 2 ** count;
    if (ms > limit) return `is ${outcome}, and its agent worked on for ${seconds(ms)} (${count} tries to stop it)`;
  }
  return null;
};

/** `ends`: when what the notice waits for ended: the run itself, or all runs of its batch. */
function toldLate(
  { machine, parents }: Stage,
  task: Task,
  { number, outcome }: Run,
  ends: readonly number[],
): string | null {
  const parent = parents.find(({ id }) => id === task.parentSessionId);
  if (!parent || parent.isDeleted || machine.places.isLost(parent.place)) return null;
  const toldAt = machine.work.toldAt(`ended ${task.id} ${number} ended ${outcome}`);
  if (toldAt === null) return null;
  const ms = machine.troubles.calm(Math.max(...ends.filter((at) => at <= toldAt)), toldAt);
  return ms > TOLD_MS ? `ended, and its parent was told ${seconds(ms)} later` : null;
}

const noticedLate: RunCheck = ({ machine }, task, { messageId, pauses }, endedAt, runs) => {
  // A run ends when its session is idle: a person who writes there prolongs it, and so does a pause.
  if (!machine.hasSession(task) || machine.written.has(task.sessionId) || pauses !== null) return null;
  const work = machine.work.of(messageId);
  if (work.endedAt === null) return null;
  // So does the prompt of an earlier run that came late.
  const own = runs
    .map((each) => machine.work.of(each.messageId))
    .filter(({ begunAt }) => (begunAt ?? endedAt) < endedAt);
  const since = Math.max(...own.map((each) => each.endedAt ?? 0), work.endedAt);
  const ms = machine.troubles.calm(Math.min(since, endedAt), endedAt);
  const limit = NOTICED_MS + NOTICED_POLLS * machine.settings.pollMs;
  return ms > limit ? `was over, and nobody noticed for ${seconds(ms)}` : null;
};

/** A stop that fails is tried again, until it succeeds or the run ends by itself. */
const cancelledLate: RunCheck = ({ machine, promises }, { id, sessionId }, run, endedAt) => {
  const { number, outcome, messageId, pauses } = run;
  const askedAt = promises.cancelled.get(`${id} ${number}`);
  if (askedAt === undefined) return null;
  // Nobody has to stop an agent that is done by itself; only its end is not written yet. A paused run would go on.
  const doneAt = pauses === null ? machine.work.of(messageId).endedAt : null;
  const until = Math.max(askedAt, Math.min(endedAt, doneAt ?? endedAt));
  const tries = machine.work.stopsOf(sessionId).filter((at) => at > askedAt && at < until);
  const longest = [...tries, until].reduce(
    ({ ms, at }, next) => ({ ms: Math.max(ms, machine.troubles.calm(at, next)), at: next }),
    { ms: 0, at: askedAt },
  );
  return longest.ms > CANCELLED_MS
    ? `was to be cancelled, and nobody tried to for ${seconds(longest.ms)}: ${outcome}`
    : null;
};

/** A process that lives, and can be seen or sends its heartbeats, loses no run. */
const wronglyInterrupted: RunCheck = ({ machine }, { sessionId }, { messageId, error }, endedAt) => {
  const { begunAt, ends, sentBy } = machine.work.of(messageId);
  // Nobody can read there that it was stopped before its machine was gone.
  if (machine.places.isLost(machine.places.ofSession(sessionId) ?? "")) return null;
  // Its process was asked to end, and did not wait for it any longer.
  if (sentBy.some((name) => machine.drained.has(name))) return null;
  // Its own process stopped it, so it lived.
  if (error !== INTERRUPTED || begunAt === null || ends.at(-1) !== "aborted") return null;
  // It was left unanswered, and read by the model of a later run.
  if (begunAt > endedAt) return null;
  const isHeldUp = HOLDS_UP.some((kind) => machine.faults.has(kind));
  if (!machine.areVisible && (isHeldUp || machine.troubles.calm(begunAt - 1, begunAt) === 0)) return null;
  const isTroubled = machine.troubles.calm(begunAt, endedAt) < endedAt - begunAt;
  return isTroubled && !machine.areVisible
    ? null
    : `was called interrupted while its process lived (${ends.join(", ")})`;
};

const wronglyTooLong: RunCheck = ({ machine }, _task, { messageId, error, pauses }, endedAt) => {
  const { begunAt, askedAt, waits } = machine.work.of(messageId);
  if (begunAt === null || !error?.startsWith("stopped: the run took longer")) return null;
  // It has worked before its newest prompt, too.
  if (pauses !== null) return null;
  // It counts from the prompt on: a host that does not begin uses up the time, too. Waiting for people does not.
  const waitedMs = waits.reduce((sum, wait) => sum + knownWaitMs(machine, wait, endedAt), 0);
  const ms = endedAt - askedAt - waitedMs;
  const limit = machine.settings.limits.runMs ?? 0;
  const margin = waitedMs > 0 ? MARGIN_MS + HEARD_MS : MARGIN_MS;
  return ms < limit - margin
    ? `was stopped for its time limit after ${seconds(ms)}, without the ${seconds(waitedMs)} in which it waited for people`
    : null;
};

/** A wait counts from when it is heard of: where nothing is wrong as it begins, from its beginning. */
function knownWaitMs({ troubles }: Machine, { from, until }: Work["waits"][number], endedAt: number): number {
  const over = Math.min(until ?? endedAt, endedAt);
  const isHeard = troubles.calm(from, from + HEARD_MS, HEARD_MS) === HEARD_MS;
  return isHeard ? Math.max(0, over - from) : troubles.calm(from, over, HEARD_MS);
}

const givenUpEarly: RunCheck = ({ machine }, _task, run, endedAt) => {
  const ms = endedAt - machine.work.of(run.messageId).askedAt;
  return isGivenUp(run) && ms < SEARCH_MS ? `was given up ${seconds(ms)} after its prompt was sent` : null;
};

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
