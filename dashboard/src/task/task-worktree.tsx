/**
 * What a task changed in a worktree of its own, and how to merge it. Shows nothing for tasks without one.
 */
import { useQuery } from "@tanstack/react-query";
import { changesText } from "../../../src/model/text/task-changes.ts";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { readingClient } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";

export function TaskWorktree({ task }: { task: BackgroundTask }) {
  // There is no event for it.
  const { data: changes } = useQuery({
    queryKey: queryKeys.worktreeAt(task.id, `${task.status} ${task.run.number}`),
    queryFn: async ({ signal }) => (await readingClient.task(task.id, signal)).changes ?? null,
  });
  if (!changes) return null;
  return (
    <section aria-label="Worktree" className="flex min-w-0 flex-col gap-1 rounded-lg border border-line px-4 py-3">
      {changesText(changes)
        .split("\n")
        .map((line) => (
          <p key={line} className="foreign max-w-full text-[13px]">
            <ForeignText text={line} />
          </p>
        ))}
    </section>
  );
}
