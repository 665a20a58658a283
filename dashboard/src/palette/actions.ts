/**
 * What can be done on the current page, for the command palette: whatever is on the page offers its actions while it is
 * shown, and the palette lists them. The newest offer of an id counts.
 */
import { useEffect, useRef, useSyncExternalStore } from "react";

export interface PaletteAction {
  id: string;
  label: string;
  keys?: string;
  run: () => void;
}

type Offer = { current: readonly PaletteAction[] };

let offers: readonly Offer[] = [];
const listeners = new Set<() => void>();

function change(next: readonly Offer[]): void {
  offers = next;
  for (const listener of listeners) listener();
}

/** Offers these while the caller is shown; none for an empty list. */
export function useActions(actions: readonly PaletteAction[]): void {
  const newest = useRef(actions);
  useEffect(() => {
    newest.current = actions;
  });
  useEffect(() => {
    const offer = newest;
    change([...offers, offer]);
    return () => change(offers.filter((each) => each !== offer));
  }, []);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useOfferedActions(): PaletteAction[] {
  const shown = useSyncExternalStore(subscribe, () => offers);
  const byId = new Map(shown.flatMap(({ current }) => current.map((action) => [action.id, action] as const)));
  return [...byId.values()];
}
