/**
 * What starts after what in a batch, as a small graph from left to right. Each task is a link; the lines between them
 * are only for the eye, since each task also says how many it waits for. Shows nothing if no task waits for another.
 */
import { useMemo } from "react";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { StatusIcon } from "../parts/status-mark.tsx";
import { Link } from "../routing/link.tsx";
import { taskPath } from "../routing/route.ts";
import { counted } from "../wording/amounts.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { phaseText } from "../wording/phase.ts";
import { isLive } from "../wording/statuses.ts";
import { type GraphEdge, type GraphNode, graphOf } from "./graph-layout.ts";

/** More are not a small graph any more; the timeline has them all. */
const MOST_NODES = 100;
/** In pixels. */
const NODE = { width: 190, height: 34 };
const GAP = { x: 44, y: 10 };

export function AfterGraph({ tasks }: { tasks: readonly BackgroundTask[] }) {
  const { nodes, edges, columns, rows } = useMemo(() => graphOf(tasks), [tasks]);
  if (nodes.length === 0) return null;
  if (nodes.length > MOST_NODES) {
    return <p className="text-muted">{counted(nodes.length, "task")} start after each other: too many to draw.</p>;
  }
  const width = columns * (NODE.width + GAP.x) - GAP.x;
  const height = rows * (NODE.height + GAP.y);
  return (
    <section aria-label="What starts after what" className="rounded-xl border border-line bg-surface">
      <div className="overflow-x-auto p-3 sm:p-5">
        <div className="relative" style={{ width, height }}>
          <svg aria-hidden="true" className="absolute inset-0" width={width} height={height}>
            {edges.map((edge) => (
              <Edge key={`${edge.from.id} ${edge.to.id}`} edge={edge} />
            ))}
          </svg>
          <ol>
            {nodes.map((node) => (
              <Node key={node.id} node={node} />
            ))}
          </ol>
        </div>
      </div>
    </section>
  );
}

function placeOf({ column, row }: GraphNode): { left: number; top: number } {
  return { left: column * (NODE.width + GAP.x), top: row * (NODE.height + GAP.y) };
}

/** A curve to the next column; past other columns it runs between two rows, where no task hides it. */
function lineOf({ from, to }: GraphEdge): string {
  const [start, end] = [placeOf(from), placeOf(to)];
  const [x1, y1] = [start.left + NODE.width, start.top + NODE.height / 2];
  const [x2, y2] = [end.left, end.top + NODE.height / 2];
  const curve = (fromX: number, fromY: number, toX: number, toY: number) =>
    `C ${(fromX + toX) / 2} ${fromY} ${(fromX + toX) / 2} ${toY} ${toX} ${toY}`;
  if (to.column - from.column === 1) return `M ${x1} ${y1} ${curve(x1, y1, x2, y2)}`;
  const y = start.top + NODE.height + GAP.y / 2;
  const [left, right] = [x1 + GAP.x, x2 - GAP.x];
  return `M ${x1} ${y1} ${curve(x1, y1, left, y)} L ${right} ${y} ${curve(right, y, x2, y2)}`;
}

/** Solid once the first has completed: then the way is free. */
function Edge({ edge }: { edge: GraphEdge }) {
  const status = edge.from.task?.status ?? "cancelled";
  return (
    <path
      data-status={status}
      d={lineOf(edge)}
      className="fill-none stroke-tone"
      strokeWidth={1.5}
      strokeDasharray={status === "completed" ? undefined : "4 4"}
    />
  );
}

function Node({ node }: { node: GraphNode }) {
  const { id, task } = node;
  const name = task?.description || id;
  const waitsFor = task?.after ? `, starts after ${counted(task.after.tasks.length, "task")}` : "";
  const hasNotStarted = task !== null && isLive(task) && task.sessionID === "";
  const state = task === null ? "in another batch" : hasNotStarted ? phaseText(task).text : task.status;
  const needsPerson = task?.phaseDetail?.kind === "blocked";
  return (
    <li
      data-node={id}
      data-status={hasNotStarted ? undefined : task?.status}
      className="absolute"
      style={{ ...placeOf(node), ...NODE }}
    >
      <Link
        href={taskPath(id)}
        title={visibleText(`${name}: ${state}`)}
        aria-label={visibleText(`${name}: ${state}${waitsFor}`)}
        className={`flex size-full items-center gap-2 rounded-lg border bg-card px-2.5 hover:bg-raised ${needsPerson ? "border-attention" : "border-strong-line"} ${hasNotStarted ? "border-dashed" : ""}`}
      >
        {needsPerson ? (
          <Icon name="waiting" className="text-attention" />
        ) : task === null || hasNotStarted ? (
          <Icon name="stalled" className="text-faint" />
        ) : (
          <StatusIcon status={task.status} />
        )}
        <span className="foreign min-w-0 truncate">
          <ForeignText text={name} />
        </span>
      </Link>
    </li>
  );
}
