/**
 * Work items, called tasks on the wire: adding, reading, changing. The store moves their status along with their
 * attempts.
 */
import type { WorkItem } from "../model/board.ts";
import type { OperationOutput } from "../protocol/operations.ts";
import type { BoardCall } from "./board-call.ts";
import type { BoardContext } from "./board-context.ts";
import type { Input } from "./input.ts";
import { notFound } from "./not-found.ts";
import { limitOf, pageOf, shown } from "./pages.ts";
import { assertProject } from "./projects.ts";
import { requiredText, wireItem, wireItemRow } from "./wire.ts";
import { writesEnded } from "./writes-ended.ts";

export async function createTask(
  { store, now, newId }: BoardContext,
  input: Input<"create_task">,
  { hadEffects }: BoardCall,
): Promise<OperationOutput<"create_task">> {
  const title = requiredText("title", input.title).trim();
  const [id, at] = [newId(), now()];
  const item: WorkItem = {
    id,
    title,
    projectId: input.project_id,
    createdAt: at,
    updatedAt: at,
    description: input.description?.trim() ? input.description : null,
    status: "todo",
  };
  const added = await store.board.addWorkItem(item).catch(async (thrown: unknown) => {
    // Perhaps only the answer was lost. If nobody can look now, repeating the call could create it twice.
    const look = async () => {
      await writesEnded(store);
      return store.board.workItem(id);
    };
    const found = await look().catch(() => {
      hadEffects();
      return null;
    });
    if (found === null) throw thrown;
    return true;
  });
  if (!added) throw notFound("project", input.project_id);
  return { task_id: id };
}

export async function listTasks(
  { store }: BoardContext,
  input: Input<"list_tasks">,
): Promise<OperationOutput<"list_tasks">> {
  await assertProject(store, input.project_id);
  const status = input.status ?? null;
  const filter = { status, search: input.search ?? "" };
  const { rows, next } = shown(await store.board.workItems(input.project_id, filter, pageOf(input)), input);
  return {
    tasks: rows.map(wireItemRow),
    count: rows.length,
    project_id: input.project_id,
    applied_filters: { status, limit: limitOf(input) },
    next_cursor: next,
  };
}

export async function getTask(
  { store }: BoardContext,
  { task_id }: Input<"get_task">,
): Promise<OperationOutput<"get_task">> {
  const item = await store.board.workItem(task_id);
  if (item === null) throw notFound("task", task_id);
  return { task: wireItem(item) };
}

export async function updateTask(
  context: BoardContext,
  input: Input<"update_task">,
): Promise<OperationOutput<"update_task">> {
  const { task_id, title, description, status } = input;
  const fields = {
    ...(title !== undefined && { title: requiredText("title", title).trim() }),
    ...(description !== undefined && { description: description.trim() === "" ? null : description }),
    ...(status !== undefined && { status }),
  };
  const isChange = Object.keys(fields).length > 0;
  if (isChange && !(await context.store.board.changeWorkItem(task_id, fields, context.now()))) {
    throw notFound("task", task_id);
  }
  return getTask(context, { task_id });
}
