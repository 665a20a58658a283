/**
 * The work item being dragged. Only drags that started on this page count: drops from another page or program are
 * ignored.
 */
import type { DragEvent } from "react";
import type { ItemRow } from "../server/operate.ts";

const TYPE = "application/x-asyncagents-item";

export type DraggedItem = ItemRow;

let dragged: ItemRow | null = null;

export function beginItemDrag(event: DragEvent, item: ItemRow): void {
  dragged = item;
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData(TYPE, item.id);
}

export function isItemDrag({ dataTransfer }: DragEvent): boolean {
  return dragged !== null && dataTransfer.types.includes(TYPE);
}

export function draggedItem({ dataTransfer }: DragEvent): DraggedItem | null {
  const item = dragged?.id === dataTransfer.getData(TYPE) ? dragged : null;
  dragged = null;
  return item;
}
