/**
 * Keys that work anywhere on the page: not while typing, not under an open dialog, not with a modifier.
 */
import { useEffect, useRef } from "react";

export type Shortcuts = Record<string, () => void>;

export function useShortcuts(shortcuts: Shortcuts): void {
  const newest = useRef(shortcuts);
  useEffect(() => {
    newest.current = shortcuts;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
      // A focused control handles Enter itself.
      if (event.key === "Enter" && event.target instanceof Element && event.target.closest("a, button, summary"))
        return;
      if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
      const act = newest.current[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
