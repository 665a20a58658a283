/**
 * The entries of the palette for what was typed, in groups: actions of the page, pages, tasks, batches.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { navigate } from "../routing/location.ts";
import { batchPath, boardPath, taskPath } from "../routing/route.ts";
import { THEMES, themeChoice } from "../shell/theme.ts";
import { useOfferedActions } from "./actions.ts";
import { matching } from "./matching.ts";
import { useFoundTasks } from "./use-found-tasks.ts";

const MOST_BATCHES = 3;
const THEME_LABELS = { auto: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" } as const;

export interface Entry {
  id: string;
  label: string;
  keys?: string;
  task?: BackgroundTask;
  run: () => void;
}

export interface EntryGroup {
  name: string;
  entries: Entry[];
}

export interface PageActions {
  onLaunch: (() => void) | null;
  onShortcuts: () => void;
}

export function useEntries(text: string, { onLaunch, onShortcuts }: PageActions) {
  const offered = useOfferedActions();
  const found = useFoundTasks(text);
  const go = (path: string) => () => navigate(path);
  const pages: Entry[] = [
    { id: "tasks", label: "Tasks", run: go("/") },
    { id: "board", label: "Board", run: go(boardPath()) },
    { id: "stats", label: "Stats", run: go("/stats") },
  ];
  const everywhere: Entry[] = [
    ...(onLaunch === null ? [] : [{ id: "launch", label: "Launch a task…", keys: "n", run: onLaunch }]),
    { id: "shortcuts", label: "Keyboard shortcuts", keys: "?", run: onShortcuts },
    ...THEMES.map((theme) => ({
      id: `theme ${theme}`,
      label: THEME_LABELS[theme],
      run: () => themeChoice.choose(theme),
    })),
  ];
  const batches = [...new Set(found.tasks.map(({ batchId }) => batchId))].slice(0, MOST_BATCHES);
  const groups: EntryGroup[] = [
    { name: "On this page", entries: matching(offered, text) },
    { name: "Go to", entries: matching(pages, text) },
    {
      name: text.trim() === "" ? "Newest tasks" : "Tasks",
      entries: found.tasks.map((task) => ({
        id: task.id,
        label: task.description || task.id,
        task,
        run: go(taskPath(task.id)),
      })),
    },
    {
      name: "Batches",
      entries: text.trim() === "" ? [] : batches.map((id) => ({ id, label: `Batch ${id}`, run: go(batchPath(id)) })),
    },
    { name: "Everywhere", entries: matching(everywhere, text) },
  ];
  return { groups: groups.filter(({ entries }) => entries.length > 0), found };
}
