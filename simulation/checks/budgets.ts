/**
 * What budgets have counted follows from the tasks in them: what these used, and how many are live; and what a task is
 * said to have used is what its agents used. Nothing stays reserved or under way in a budget without live tasks.
 */
import { isLive, type Run, type Task } from "../../src/model/task.ts";
import type { Stage } from "../scenario/stage.ts";

/** Sums of fractions are not exact. */
const TINY = 1e-6;
/** How late a prompt may count as accepted, whose answer is slow, or a run as over. */
const MARGIN_MS = 35_000;

const MEASURES = ["tokens", "cost", "ms"] as const;
type Use = Record<(typeof MEASURES)[number], number>;

export async function budgetsAgree({ truth }: Stage, tasks: readonly Task[]): Promise<string[]> {
  const chains = await truth.budgets.chains(tasks.map(({ id }) => id));
  const inside = new Map<string, Task[]>();
  for (const task of tasks) {
    for (const { id } of chains.get(task.id) ?? []) inside.set(id, [...(inside.get(id) ?? []), task]);
  }
  const found: string[] = [];
  for (const [id, its] of inside) {
    const budget = await truth.budgets.get(id);
    if (budget === null) {
      found.push(`the budget ${id} is gone, and tasks count in it`);
      continue;
    }
    const live = its.filter(({ status }) => isLive(status)).length;
    if (budget.live !== live) found.push(`the budget ${id} counts ${budget.live} live tasks, and ${live} are`);
    if (live === 0 && budget.flying !== 0) found.push(`the budget ${id} counts ${budget.flying} requests under way`);
    for (const measure of MEASURES) {
      const used = its.reduce((sum, task) => sum + saidToBeUsed(task)[measure], 0);
      const [spent, reserved] = [budget.spent[measure], budget.reserved[measure]];
      if (Math.abs(spent - used) > TINY)
        found.push(`the budget ${id} has spent ${spent} (${measure}), and its tasks used ${used}`);
      if (live === 0 && Math.abs(reserved) > TINY)
        found.push(`the budget ${id} keeps ${reserved} (${measure}) reserved for nobody`);
    }
  }
  return found;
}

function saidToBeUsed({ progress: { tokens, cost, workedMs = 0 } }: Task): Use {
  const { input, output, reasoning, cacheRead, cacheWrite } = tokens;
  return { tokens: input + output + reasoning + cacheRead + cacheWrite, cost, ms: workedMs };
}

/** No task is said to have used more than its agents did, nor less than those whose answers it has. */
export async function tasksUseWhatTheirAgentsUse(stage: Stage, tasks: readonly Task[]): Promise<string[]> {
  const { machine, truth, queue } = stage;
  const found: string[] = [];
  const chains = await truth.budgets.chains(tasks.map(({ id }) => id));
  for (const task of tasks) {
    const runs = await truth.runs(task.id, 200);
    // What is done for a person beside a run cannot be told from its own work; nor what was done before a pause.
    if (machine.written.has(task.sessionId) || runs.some(({ pauses }) => pauses !== null)) continue;
    const its = queue?.tasks.get(task.id)?.beginnings.map(({ sessionId }) => sessionId) ?? [];
    const most = sum([...new Set([...its, task.sessionId])].map((id) => machine.work.usedIn(id)));
    const least = sum(runs.map((run) => leastOf(stage, task, run)));
    const said = saidToBeUsed(task);
    for (const measure of ["tokens", "cost"] as const) {
      const isWrong = said[measure] > most[measure] + TINY || said[measure] < least[measure] - TINY;
      const expected = `between ${least[measure]} and ${most[measure]}`;
      if (isWrong) found.push(`${task.id} is said to have used ${said[measure]} (${measure}), and it was ${expected}`);
    }
    const isTimed = chains.get(task.id)?.some(({ limits }) => limits.ms !== null) ?? false;
    found.push(...wrongTime(stage, task, { runs, isTimed }));
  }
  return found;
}

/** What the only agent of a run used that has answered, alone. */
function leastOf({ machine }: Stage, { id }: Task, { number, messageId, outcome }: Run): Omit<Use, "ms"> {
  const { begun, ends, readersEnds, endedAt } = machine.work.of(messageId);
  const isOwn = begun === 1 && ends[0] === "answered" && readersEnds.length === 0;
  const isRead = outcome === "completed" && (endedAt ?? 0) <= (machine.ends.of(id, number) ?? 0);
  return isOwn && isRead ? machine.work.usedFor(messageId) : { tokens: 0, cost: 0 };
}

/** Counted only where a budget limits it. A process that took a run over counts from then on. */
function wrongTime(
  { machine }: Stage,
  task: Task,
  { runs, isTimed }: { runs: readonly Run[]; isTimed: boolean },
): string[] {
  const { work, begins, ends, troubles } = machine;
  const said = task.progress.workedMs ?? 0;
  let [least, most] = [0, 0];
  for (const { number, messageId, outcome } of runs) {
    const { begunAt, heardAt, endedAt, waits, sentBy } = work.of(messageId);
    most += Math.max(0, (ends.of(task.id, number) ?? 0) - (begins.of(task.id, number) ?? 0)) + MARGIN_MS;
    const isOwn =
      outcome === "completed" && waits.length === 0 && sentBy.includes(ends.writerOf(task.id, number) ?? "");
    if (!isOwn || begunAt === null || heardAt === null || endedAt === null) continue;
    const from = Math.max(begunAt, heardAt);
    const isCalm = endedAt > from && troubles.calm(from, endedAt) === endedAt - from;
    if (isCalm) least += Math.max(0, endedAt - from - MARGIN_MS);
  }
  const isWrong = said > most || (isTimed && said < least);
  return isWrong ? [`${task.id} is said to have worked ${said} ms, and it was between ${least} and ${most}`] : [];
}

function sum(uses: readonly Omit<Use, "ms">[]): Omit<Use, "ms"> {
  const add = (one: Omit<Use, "ms">, other: Omit<Use, "ms">) => ({
    tokens: one.tokens + other.tokens,
    cost: one.cost + other.cost,
  });
  return uses.reduce(add, { tokens: 0, cost: 0 });
}
