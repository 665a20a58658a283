/**
 * The order in which keys go through the tasks of a batch: by their start, and from the last one on to the first. Pure.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";

type Member = Pick<BackgroundTask, "id" | "startedAt" | "status">;

/** The next one for 1, the previous one for -1; null if there is no other. Without an id, the first or the last. */
export function neighbourOf(tasks: readonly Member[], id: string | null, step: 1 | -1): string | null {
  return firstFrom(tasks, id, step, () => true);
}

export function nextFailure(tasks: readonly Member[], id: string | null): string | null {
  return firstFrom(tasks, id, 1, ({ status }) => status === "error");
}

function firstFrom(
  tasks: readonly Member[],
  id: string | null,
  step: 1 | -1,
  isWanted: (task: Member) => boolean,
): string | null {
  const ordered = tasks.toSorted(
    (one, other) => one.startedAt.localeCompare(other.startedAt) || one.id.localeCompare(other.id),
  );
  if (step === -1) ordered.reverse();
  const here = ordered.findIndex((task) => task.id === id);
  const others = [...ordered.slice(here + 1), ...ordered.slice(0, Math.max(0, here))];
  return others.find(isWanted)?.id ?? null;
}
