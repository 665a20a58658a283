/**
 * The page's addresses: which view a path means, and the path of each view. Knows nothing about the browser's
 * history.
 */
import { type Filters, filtersOf } from "./filters.ts";

export type AttemptTab = "conversation" | "changes";

export type Route =
  | { view: "list"; filters: Filters }
  | { view: "task"; id: string }
  | { view: "batch"; id: string }
  | { view: "stats" }
  | { view: "board"; projectId: string | null }
  | { view: "item"; id: string }
  | { view: "attempt"; id: string; tab: AttemptTab | null }
  | { view: "unknown" };

export function routeOf(path: string, search: string): Route {
  if (path === "/") return { view: "list", filters: filtersOf(search) };
  if (path === "/stats" || path === "/stats/") return { view: "stats" };
  if (path === "/board" || path === "/board/") return { view: "board", projectId: null };
  const [, kind, encoded] = /^\/(tasks|batches|board|items|attempts)\/([^/]+)\/?$/.exec(path) ?? [];
  const id = encoded === undefined ? null : decoded(encoded);
  if (!id) return { view: "unknown" };
  if (kind === "board") return { view: "board", projectId: id };
  if (kind === "items") return { view: "item", id };
  if (kind === "attempts") return { view: "attempt", id, tab: tabOf(search) };
  return kind === "tasks" ? { view: "task", id } : { view: "batch", id };
}

function tabOf(search: string): AttemptTab | null {
  const given = new URLSearchParams(search).get("tab");
  return given === "conversation" || given === "changes" ? given : null;
}

/** Without a project: the last one used in this browser. */
export function boardPath(projectId?: string): string {
  return projectId === undefined ? "/board" : `/board/${encodeURIComponent(projectId)}`;
}

export function itemPath(id: string): string {
  return `/items/${encodeURIComponent(id)}`;
}

export function attemptPath(id: string, tab?: AttemptTab): string {
  return `/attempts/${encodeURIComponent(id)}${tab === undefined ? "" : `?tab=${tab}`}`;
}

export function taskPath(id: string): string {
  return `/tasks/${encodeURIComponent(id)}`;
}

export function batchPath(id: string): string {
  return `/batches/${encodeURIComponent(id)}`;
}

/** An address typed by hand can contain a broken escape. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
