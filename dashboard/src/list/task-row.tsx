/**
 * One row of the list, as columns or, on narrow screens, as two lines. The description is a link stretched over the
 * row, so that a row opens like any link. A row that is not loaded yet keeps its place.
 */
import { memo } from "react";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { PhaseMark } from "../parts/phase-mark.tsx";
import { StatusIcon, StatusMark } from "../parts/status-mark.tsx";
import { Ago, TaskDuration } from "../parts/times.tsx";
import { Link } from "../routing/link.tsx";
import { batchPath, taskPath } from "../routing/route.ts";
import { compactText, costText, tokensTitle, totalTokens } from "../wording/amounts.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { hasNotStarted } from "../wording/phase.ts";
import { COLUMNS } from "./grid-head.tsx";
import type { TaskRowData } from "./task-row-data.ts";

interface TaskRowProps {
  index: number;
  top: number;
  height: number;
  task: TaskRowData | undefined;
  isSelected: boolean;
  isNarrow: boolean;
  onSelect: (id: string) => void;
}

export function rowId(index: number): string {
  return `task-row-${index}`;
}

export const TaskRow = memo(function TaskRow({
  index,
  top,
  height,
  task,
  isSelected,
  isNarrow,
  onSelect,
}: TaskRowProps) {
  const look = isSelected ? "bg-accent/10 shadow-[inset_3px_0_0_var(--accent)]" : "hover:bg-raised/70";
  return (
    // biome-ignore lint/a11y/useSemanticElements: part of a virtual grid, which a table element cannot be
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the grid's
    <div
      role="row"
      tabIndex={isSelected ? 0 : -1}
      id={rowId(index)}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-task-id={task?.id}
      data-status={task?.status}
      onClick={() => task && onSelect(task.id)}
      className={`group absolute inset-x-0 border-b border-line/70 outline-offset-[-2px] ${look}`}
      style={{ height, transform: `translateY(${top}px)` }}
    >
      {task === undefined ? <Placeholder /> : isNarrow ? <NarrowCells task={task} /> : <WideCells task={task} />}
    </div>
  );
});

function WideCells({ task }: { task: TaskRowData }) {
  return (
    <div className={`${COLUMNS} h-full`}>
      <Cell className="flex">
        <StatusMark status={task.status} isWaiting={hasNotStarted(task)} />
      </Cell>
      <Cell className="flex items-center gap-2">
        <TaskLink task={task} />
        <BatchLink task={task} />
      </Cell>
      <Cell className="foreign truncate text-muted">
        <ForeignText text={task.agent} />
      </Cell>
      <Cell className="flex">
        <PhaseMark task={task} />
      </Cell>
      <Cell className="hidden text-right text-muted lg:block">
        <span title={tokensTitle(task.progress.tokens)}>{compactText(totalTokens(task.progress.tokens))}</span>
      </Cell>
      <Cell className="hidden text-right text-muted lg:block">{costText(task.progress.cost)}</Cell>
      <Cell className="text-right">
        <TaskDuration task={task} />
      </Cell>
      <Cell className="truncate text-right text-muted">
        <Ago at={task.startedAt} />
      </Cell>
    </div>
  );
}

function NarrowCells({ task }: { task: TaskRowData }) {
  return (
    <div className="flex h-full flex-col justify-center gap-0.5 px-3">
      <Cell className="flex items-center gap-2">
        <StatusIcon status={task.status} isWaiting={hasNotStarted(task)} />
        <TaskLink task={task} />
        <span className="ml-auto shrink-0 text-muted">
          <TaskDuration task={task} />
        </span>
      </Cell>
      <Cell className="flex items-center gap-1.5 pl-6 text-xs text-muted">
        <span className="shrink-0 font-medium text-tone">{task.status}</span>
        <span className="foreign max-w-24 shrink-0 truncate">
          <ForeignText text={task.agent} />
        </span>
        <PhaseMark task={task} />
        <span className="ml-auto shrink-0">
          <Ago at={task.startedAt} />
        </span>
      </Cell>
    </div>
  );
}

function Cell({ className = "", children }: { className?: string; children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: part of a virtual grid, which a table element cannot be
    // biome-ignore lint/a11y/useFocusableInteractive: the grid is the one stop, rows are its active descendants
    <div role="gridcell" className={`min-w-0 ${className}`}>
      {children}
    </div>
  );
}

function TaskLink({ task }: { task: TaskRowData }) {
  return (
    <Link
      href={taskPath(task.id)}
      tabIndex={-1}
      title={visibleText(task.description)}
      className="foreign truncate font-medium after:absolute after:inset-0"
    >
      <ForeignText text={task.description || "(no description)"} />
    </Link>
  );
}

function BatchLink({ task }: { task: TaskRowData }) {
  return (
    <Link
      href={batchPath(task.batchId)}
      tabIndex={-1}
      aria-label="Open the batch"
      title="Open the batch (b)"
      className="relative z-10 hidden rounded p-1 text-faint group-hover:inline-block group-aria-selected:inline-block hover:bg-line hover:text-ink"
    >
      <Icon name="batch" className="size-3.5" />
    </Link>
  );
}

function Placeholder() {
  return (
    <Cell className="flex h-full items-center gap-6 px-5">
      <span className="h-2.5 w-20 rounded bg-raised" />
      <span className="h-2.5 w-2/5 rounded bg-raised" />
      <span className="sr-only">Loading</span>
    </Cell>
  );
}
