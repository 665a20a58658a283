/**
 * Keeps the lines of runs that are bound to a folder in our own table, whatever the other lines are made of: one or two
 * processes have a folder open, and they need nothing beside the store for it. A claim is decided by the row's state.
 */
import type { Lines } from "./lines.ts";
import { tableLines } from "./table-lines.ts";

const PREFIX = "folder-";

export function folderLine(digest: string): string {
  return `${PREFIX}${digest}`;
}

export function withFolderLines(others: Lines): Lines {
  const of = (line: string) => (line.startsWith(PREFIX) ? tableLines : others);
  return {
    open: (line) => of(line).open(line),
    newTicket: (line) => of(line).newTicket(line),
    add: (kysely, line, runs) => of(line).add(kysely, line, runs),
    take: (kysely, line, count) => of(line).take(kysely, line, count),
    remove: (kysely, line, ticket) => of(line).remove(kysely, line, ticket),
    close: () => others.close(),
  };
}
