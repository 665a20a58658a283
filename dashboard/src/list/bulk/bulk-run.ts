/**
 * Does one thing to each of many tasks: a few at a time, in their order, until all are done or it is stopped. What was
 * chosen stays fixed; one failure does not end it, and each is kept with its reason. Pure, but for what it is given.
 */

export interface BulkTask {
  id: string;
  description: string;
}

export interface BulkFailure {
  task: BulkTask;
  reason: unknown;
}

export interface BulkState {
  done: number;
  failures: readonly BulkFailure[];
  /** Under way now. */
  active: number;
  /** Not begun. */
  left: number;
}

const AT_ONCE = 4;

export async function runBulk(
  tasks: readonly BulkTask[],
  act: (task: BulkTask) => Promise<unknown>,
  { signal, onState }: { signal: AbortSignal; onState: (state: BulkState) => void },
): Promise<BulkState> {
  let state: BulkState = { done: 0, failures: [], active: 0, left: tasks.length };
  const set = (changed: Partial<BulkState>) => {
    state = { ...state, ...changed };
    onState(state);
  };
  const queue = tasks.values();
  const work = async () => {
    // What has begun is not taken back: its outcome is told, too.
    for (const task of queue) {
      if (signal.aborted) return;
      set({ active: state.active + 1, left: state.left - 1 });
      try {
        await act(task);
        set({ active: state.active - 1, done: state.done + 1 });
      } catch (reason) {
        set({ active: state.active - 1, failures: [...state.failures, { task, reason }] });
      }
      if (signal.aborted) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, tasks.length) }, work));
  return state;
}
