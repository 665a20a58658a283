/**
 * Updates a column's loaded pages optimistically: a card is removed from one column and inserted into another by its
 * age. Pure.
 */
import type { InfiniteData } from "@tanstack/react-query";
import type { ItemPage, ItemRow } from "../server/operate.ts";

export type ItemPages = InfiniteData<ItemPage>;

export function rowsOf(pages: ItemPages | undefined): ItemRow[] {
  return pages?.pages.flatMap(({ tasks }) => tasks) ?? [];
}

export function withoutItem(pages: ItemPages, id: string): ItemPages {
  const keep = (page: ItemPage) => ({ ...page, tasks: page.tasks.filter((item) => item.id !== id) });
  return { ...pages, pages: pages.pages.map(keep) };
}

/** A card older than everything loaded is added at the end: it must not vanish when someone moves it. */
export function withItem(pages: ItemPages, item: ItemRow): ItemPages {
  const cleared = withoutItem(pages, item.id);
  const isBefore = (other: ItemRow) => other.created_at <= item.created_at;
  const found = cleared.pages.findIndex(({ tasks }) => tasks.some(isBefore));
  const at = found === -1 ? cleared.pages.length - 1 : found;
  const place = (page: ItemPage): ItemPage => {
    const index = page.tasks.findIndex(isBefore);
    return { ...page, tasks: page.tasks.toSpliced(index === -1 ? page.tasks.length : index, 0, item) };
  };
  return { ...cleared, pages: cleared.pages.map((page, index) => (index === at ? place(page) : page)) };
}

/** Each once, newest first. */
export function joined(some: readonly ItemRow[], others: readonly ItemRow[]): ItemRow[] {
  const known = new Set(some.map(({ id }) => id));
  const all = [...some, ...others.filter(({ id }) => !known.has(id))];
  return all.sort((one, other) => (one.created_at < other.created_at ? 1 : -1));
}

export function matching(rows: readonly ItemRow[], filter: string): readonly ItemRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter(({ title, latest_workspace_branch }) => {
    const text = `${title} ${latest_workspace_branch ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
