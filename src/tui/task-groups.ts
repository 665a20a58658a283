/** Which tasks the panel shows where, and in which order. What needs a person always comes first. Pure. */
import { needsYou, type PanelTask } from "./panel-task.ts";

export interface TaskGroups {
  /** The longest waiting first. */
  needs: PanelTask[];
  /** The newest run first. */
  working: PanelTask[];
  /** The one that ended last first. */
  ended: PanelTask[];
}

export function groupsOf(tasks: Iterable<PanelTask>): TaskGroups {
  const groups: TaskGroups = { needs: [], working: [], ended: [] };
  for (const task of tasks) groups[needsYou(task) ? "needs" : task.isLive ? "working" : "ended"].push(task);
  const by = (one: number, other: number, first: PanelTask, second: PanelTask) =>
    one - other || (first.id < second.id ? -1 : 1);
  groups.needs.sort((one, other) => by(one.request?.since ?? 0, other.request?.since ?? 0, one, other));
  groups.working.sort((one, other) => by(other.runStartedAt, one.runStartedAt, one, other));
  groups.ended.sort((one, other) => by(other.endedAt ?? 0, one.endedAt ?? 0, one, other));
  return groups;
}

/** The tasks that a session launched, and those that they launched. */
export function tasksOf(tasks: readonly PanelTask[], sessionId: string): PanelTask[] {
  const byParent = Map.groupBy(tasks, ({ parentSessionId }) => parentSessionId);
  const found = new Set<PanelTask>();
  const open = [sessionId];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === "") continue;
    for (const task of byParent.get(next) ?? []) {
      if (found.has(task)) continue;
      found.add(task);
      open.push(task.sessionId);
    }
  }
  return [...found];
}

const LIVE_SHOWN = 8;
const ENDED_SHOWN = 3;

/** What fits into the sidebar, and how many do not. */
export function shownInSidebar({ needs, working, ended }: TaskGroups): { shown: PanelTask[]; more: number } {
  const live = [...needs, ...working];
  const shown = [...live.slice(0, LIVE_SHOWN), ...ended.slice(0, ENDED_SHOWN)];
  return { shown, more: live.length + ended.length - shown.length };
}
