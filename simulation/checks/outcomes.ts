/**
 * How a run ended, compared with what happened to it: it is cancelled only if somebody stopped it, interrupted only if
 * a process died, and failed only in the way in which its agent did. Each run ends once.
 */
import { ABORTED, NO_OUTPUT } from "../../src/model/evidence.ts";
import type { Run, Task } from "../../src/model/task.ts";
import type { WorkEnd } from "../agents/work-log.ts";
import type { Stage } from "../scenario/stage.ts";
import type { Fault } from "../world/faults.ts";

/** What keeps a process from storing that a run begins, or from knowing that it did. */
const STORE_FAILS: readonly Fault[] = ["query fails", "query fails after its commit", "disk is full"];

type EndCheck = (stage: Stage, task: Task, run: Run, endedAt: number) => string | null;

export async function endsAreTrue(stage: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  for (const task of tasks) {
    for (const run of await stage.truth.runs(task.id, 200)) {
      const endedAt = stage.machine.ends.of(task.id, run.number);
      if (endedAt === null) continue;
      const wrong = [nobodyAsked, nobodyDied, nothingOfTheKind, stillWaiting]
        .map((check) => check(stage, task, run, endedAt))
        .filter((words) => words !== null);
      found.push(...wrong.map((words) => `run ${run.number} of ${task.id} ${words}: ${run.error}`));
    }
  }
  return found;
}

/** Nobody is told that somebody stopped a task that nobody stopped. A deleted session stops its task. */
const nobodyAsked: EndCheck = ({ machine, promises, parents }, task, { outcome, error }, endedAt) => {
  if (outcome !== "cancelled") return null;
  const { id, sessionId, parentSessionId, host } = task;
  if (host === "opencode" && !machine.sessions.has(sessionId)) return null;
  if ([id, sessionId, parentSessionId].some((each) => promises.stopped.has(each))) return null;
  if (parents.some((parent) => parent.id === parentSessionId && parent.isDeleted)) return null;
  // Its process stopped it, for its time limit, and died before it could say so.
  if (error === ABORTED && machine.firstDeath < endedAt) return null;
  return "is cancelled, and nobody asked";
};

/** Where processes see each other, a run is lost only if a process has died, or the program of its agent. */
const nobodyDied: EndCheck = ({ machine }, _task, { error, messageId }, endedAt) => {
  if (!machine.areVisible || !error?.startsWith("interrupted:") || machine.firstDeath <= endedAt) return null;
  // The store failed when the run was to begin, and its caller was told so.
  if (machine.work.of(messageId).sentBy.length === 0 && STORE_FAILS.some((kind) => machine.faults.has(kind)))
    return null;
  return "is called interrupted, and no process had died";
};

/** The errors that only an agent causes, by their words. */
const CAUSES: readonly { words: RegExp; end: WorkEnd }[] = [
  { words: /^The provider failed/, end: "failed" },
  { words: /^Agent not found/, end: "failed" },
  { words: /^stopped at its call of/, end: "denied" },
];

/** In a session in which a person wrote too, the failure may be that of the other prompt. */
const nothingOfTheKind: EndCheck = ({ machine }, { sessionId }, { messageId, error }) => {
  const cause = CAUSES.find(({ words }) => words.test(error ?? ""));
  if (cause === undefined || machine.written.has(sessionId)) return null;
  const { ends } = machine.work.of(messageId);
  return ends.includes(cause.end) ? null : `failed in another way than its agent (${ends.join(", ") || "never ended"})`;
};

/** A program has its prompt, and has not begun to work on it. */
const stillWaiting: EndCheck = ({ machine }, { id }, { number, messageId, error }) =>
  error === NO_OUTPUT && machine.ends.wasWaiting(id, number, messageId)
    ? "was called over before its agent had begun"
    : null;

const ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);

export async function eachRunEndsOnce({ truth }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const found: string[] = [];
  for (const { id } of tasks) {
    const ended = new Set<number>();
    for (const { event } of await truth.entriesOf([id], { after: 0, before: Number.MAX_SAFE_INTEGER }, 5_000)) {
      if (!ENDS.has(event.type) || !("run" in event)) continue;
      if (ended.has(event.run)) found.push(`run ${event.run} of ${id} ended twice`);
      ended.add(event.run);
    }
  }
  return found;
}
