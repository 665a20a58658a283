/**
 * All tasks that match a query, oldest first, without their texts, read page by page while others write. If tasks stop
 * matching meanwhile, the ones behind them move forward. Therefore each page starts with a task of the page before; if
 * it does not, an earlier page is read again. So none is missed.
 */
import type { Task } from "../../model/task.ts";
import type { Store, TaskQuery } from "../../store/store.ts";

const PAGE = 200;

export async function allTasks(
  store: Pick<Store, "tasks">,
  query: Omit<TaskQuery, "limit" | "offset" | "order" | "textChars">,
): Promise<Task[]> {
  const found = new Map<string, Task>();
  for (let offset = 0; ; ) {
    const { tasks } = await store.tasks({ ...query, textChars: 0, limit: PAGE, offset, order: "oldest" });
    const isNext = offset === 0 || found.has(tasks[0]?.id ?? "");
    if (isNext) for (const task of tasks) found.set(task.id, task);
    if (isNext && tasks.length < PAGE) return [...found.values()];
    offset = isNext ? offset + PAGE - 1 : Math.max(0, offset - PAGE);
  }
}
