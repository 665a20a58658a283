/**
 * The page's addresses: which view a path means, and the path of each view. Knows nothing of the browser's history.
 */
import { type Filters, filtersOf } from "./filters.ts";

export type Route =
  | { view: "list"; filters: Filters }
  | { view: "task"; id: string }
  | { view: "batch"; id: string }
  | { view: "stats" }
  | { view: "unknown" };

export function routeOf(path: string, search: string): Route {
  if (path === "/") return { view: "list", filters: filtersOf(search) };
  if (path === "/stats" || path === "/stats/") return { view: "stats" };
  const [, kind, encoded] = /^\/(tasks|batches)\/([^/]+)\/?$/.exec(path) ?? [];
  const id = encoded === undefined ? null : decoded(encoded);
  if (!id) return { view: "unknown" };
  return kind === "tasks" ? { view: "task", id } : { view: "batch", id };
}

export function taskPath(id: string): string {
  return `/tasks/${encodeURIComponent(id)}`;
}

export function batchPath(id: string): string {
  return `/batches/${encodeURIComponent(id)}`;
}

/** An address typed by hand can hold a broken escape. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
