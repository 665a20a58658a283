/**
 * How each list was left: how far it was scrolled and what was selected, so that going back finds it so. Lives as long
 * as the page, for the newest few lists.
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
