/**
 * Where the tasks of a batch stand in the graph of what starts after what: in columns, each task right of all that it
 * starts after. Tasks that nothing connects are left out. Pure.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";

export interface GraphNode {
  id: string;
  /** Null if it is not in the batch. */
  task: BackgroundTask | null;
  column: number;
  row: number;
}

export interface GraphEdge {
  from: GraphNode;
  to: GraphNode;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  columns: number;
  rows: number;
}

export function graphOf(tasks: readonly BackgroundTask[]): Graph {
  const known = new Map(tasks.map((task) => [task.id, task]));
  const waiting = tasks.filter(({ after }) => after !== null);
  const links = waiting.flatMap((task) => (task.after?.tasks ?? []).map((from) => ({ from, to: task.id })));
  const ids = [...new Set(links.flatMap(({ from, to }) => [from, to]))];
  const columns = columnsOf(ids, links);
  const perColumn = new Map<number, number>();
  const oldestFirst = ids.toSorted((one, other) => startOf(known, one).localeCompare(startOf(known, other)));
  const nodes = oldestFirst.map((id) => {
    const column = columns.get(id) ?? 0;
    const row = perColumn.get(column) ?? 0;
    perColumn.set(column, row + 1);
    return { id, task: known.get(id) ?? null, column, row };
  });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edges = links.flatMap(({ from, to }) => {
    const [start, end] = [byId.get(from), byId.get(to)];
    return start && end ? [{ from: start, to: end }] : [];
  });
  return { nodes, edges, columns: perColumn.size, rows: Math.max(0, ...perColumn.values()) };
}

function startOf(known: ReadonlyMap<string, BackgroundTask>, id: string): string {
  return known.get(id)?.startedAt ?? "";
}

/** The longest way to each. A cycle, which the server refuses, ends with the number of tasks. */
function columnsOf(ids: readonly string[], links: readonly { from: string; to: string }[]): Map<string, number> {
  const columns = new Map(ids.map((id) => [id, 0]));
  for (let round = 0; round < ids.length; round++) {
    let hasMoved = false;
    for (const { from, to } of links) {
      const column = (columns.get(from) ?? 0) + 1;
      if (column <= (columns.get(to) ?? 0)) continue;
      columns.set(to, column);
      hasMoved = true;
    }
    if (!hasMoved) break;
  }
  return columns;
}
