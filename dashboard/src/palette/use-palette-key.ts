/**
 * Ctrl K, or Cmd K: opens the palette from anywhere, also while typing; not over another dialog.
 */
import { useEffect, useRef } from "react";

export function usePaletteKey(open: () => void): void {
  const newest = useRef(open);
  useEffect(() => {
    newest.current = open;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) newest.current();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}
