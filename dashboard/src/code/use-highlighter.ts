/**
 * The highlighter once it has loaded; null until then, or if it cannot be loaded: a diff is readable without colours.
 */
import { useEffect, useState } from "react";
import type { Highlighter } from "./highlighter.ts";

let loaded: Highlighter | null = null;

export function useHighlighter(): Highlighter | null {
  const [highlighter, setHighlighter] = useState(loaded);
  useEffect(() => {
    if (loaded !== null) return;
    let isHere = true;
    import("./highlighter.ts").then(
      (module) => {
        loaded = module;
        if (isHere) setHighlighter(module);
      },
      () => undefined,
    );
    return () => {
      isHere = false;
    };
  }, []);
  return highlighter;
}
