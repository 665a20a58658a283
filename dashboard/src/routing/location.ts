/**
 * The current location, from the History API: one source for all views, and the only caller of pushState. Back and
 * forward work because every view reads from here.
 */
import { useMemo, useSyncExternalStore } from "react";
import { type Route, routeOf } from "./route.ts";

const listeners = new Set<() => void>();
let listPathLeft = "/";

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener("popstate", tell);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener("popstate", tell);
  };
}

function tell(): void {
  for (const listener of listeners) listener();
}

export function navigate(path: string, { replace = false } = {}): void {
  const here = window.location.pathname + window.location.search;
  if (window.location.pathname === "/") listPathLeft = here;
  if (path === here) return;
  if (replace) window.history.replaceState(null, "", path);
  else window.history.pushState(null, "", path);
  tell();
}

/** To the list as the person left it, with its filters. */
export function navigateToList(): void {
  navigate(window.location.pathname === "/" ? "/" : listPathLeft);
}

export function useRoute(): Route {
  const path = useSyncExternalStore(subscribe, () => window.location.pathname);
  const search = useSyncExternalStore(subscribe, () => window.location.search);
  return useMemo(() => routeOf(path, search), [path, search]);
}
