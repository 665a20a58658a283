/**
 * Whether a media query matches, as a hook. For what styles alone cannot do, such as the height of virtual rows.
 */
import { useCallback, useSyncExternalStore } from "react";

export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = window.matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}

export function useIsNarrow(): boolean {
  return useMedia("(max-width: 767px)");
}
