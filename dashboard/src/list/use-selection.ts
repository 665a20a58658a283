/**
 * The selected row and the keys that move it. The selection is a task, not a position: it follows when rows move.
 */
import { useCallback, useState } from "react";
import { navigate } from "../routing/location.ts";
import { batchPath, taskPath } from "../routing/route.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { recallList, rememberList } from "./list-memory.ts";
import type { TaskPages } from "./task-pages.ts";

const PAGE_STEP = 12;

export function useSelection(path: string, pages: TaskPages, reveal: (index: number) => void, onClear: () => void) {
  const [selectedId, setSelectedId] = useState(() => recallList(path).selectedId);
  const selectedIndex = selectedId === null ? -1 : pages.indexOf(selectedId);
  const select = useCallback(
    (id: string | null) => {
      setSelectedId(id);
      rememberList(path, { ...recallList(path), selectedId: id });
    },
    [path],
  );
  const move = (step: number) => {
    const last = (pages.total ?? 0) - 1;
    const index = selectedIndex === -1 && step === 1 ? 0 : Math.min(last, Math.max(0, selectedIndex + step));
    const task = pages.row(index);
    if (task) select(task.id);
    reveal(index);
  };
  const open = (pathOf: (task: { id: string; batchId: string }) => string) => {
    const task = selectedIndex === -1 ? undefined : pages.row(selectedIndex);
    if (task) navigate(pathOf(task));
  };
  const next = () => move(1);
  const previous = () => move(-1);
  const openSelected = () => open((task) => taskPath(task.id));
  useShortcuts({
    j: next,
    ArrowDown: next,
    k: previous,
    ArrowUp: previous,
    PageDown: () => move(PAGE_STEP),
    PageUp: () => move(-PAGE_STEP),
    Home: () => move(Number.NEGATIVE_INFINITY),
    End: () => move(Number.POSITIVE_INFINITY),
    b: () => open((task) => batchPath(task.batchId)),
    Escape: () => (selectedIndex === -1 ? onClear() : select(null)),
    ...(selectedIndex !== -1 && { Enter: openSelected }),
  });
  return { selectedIndex, select };
}
