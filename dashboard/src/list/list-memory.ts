/**
 * The state in which each list was left: scroll position and selection, restored when going back. Lives as long as
 * the page, for the most recent lists.
 */

interface Left {
  offset: number;
  selectedId: string | null;
}

const LIMIT = 20;
const memory = new Map<string, Left>();

export function recallList(path: string): Left {
  return memory.get(path) ?? { offset: 0, selectedId: null };
}

export function rememberList(path: string, left: Left): void {
  memory.delete(path);
  memory.set(path, left);
  const oldest = memory.keys().next().value;
  if (memory.size > LIMIT && oldest !== undefined) memory.delete(oldest);
}
