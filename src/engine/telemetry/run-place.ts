/**
 * Where the span of a run belongs: each run of a task that no task launched begins a trace, and the runs of tasks below
 * it are in the same one, under the run that was the newest when they began. Read from the store, so that every process
 * comes to the same answer. Only reads.
 */
import type { Run, Task } from "../../model/task.ts";
import type { Store } from "../../store/store.ts";
import { type SpanIds, spanIdOf, traceIdOf } from "./trace-ids.ts";

export interface RunPlace {
  own: SpanIds;
  /** The run of the task that launched it; null if none did. */
  parent: SpanIds | null;
  /** The run before it in the same task; null if it is the first. */
  earlier: SpanIds | null;
}

type Begun = Pick<Run, "number" | "startedAt">;
type PlaceStore = Pick<Store, "taskOfSession" | "runs" | "run">;

/** Deeper than tasks can launch tasks; ends a search in a damaged store. */
const DEEPEST = 32;
/** Among how many runs of a parent the one is searched; otherwise the task has no parent in its trace. */
const PARENT_RUNS = 50;

export async function placeOf(store: PlaceStore, task: Task): Promise<RunPlace> {
  const { id, run } = task;
  const parent = await parentOf(store, task, run, DEEPEST);
  const earlier = run.number === 0 ? null : await store.run(id, run.number - 1);
  return {
    own: idsOf(task, run, parent),
    parent,
    earlier: earlier && idsOf(task, earlier, await parentOf(store, task, earlier, DEEPEST)),
  };
}

function idsOf({ id }: Task, { number }: Begun, parent: SpanIds | null): SpanIds {
  return { traceId: parent?.traceId ?? traceIdOf(id, number), spanId: spanIdOf(id, number) };
}

async function parentOf(store: PlaceStore, task: Task, run: Begun, depth: number): Promise<SpanIds | null> {
  if (task.parentSessionId === "" || depth === 0) return null;
  const parent = await store.taskOfSession(task.parentSessionId);
  if (parent === null) return null;
  const runs = await store.runs(parent.id, PARENT_RUNS);
  const begun = runs.find(({ startedAt }) => startedAt <= run.startedAt);
  return begun ? idsOf(parent, begun, await parentOf(store, parent, begun, depth - 1)) : null;
}
