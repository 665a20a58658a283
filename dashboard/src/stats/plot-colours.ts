/**
 * The theme's colours in a form a canvas can use, read again when the theme changes.
 */
import { useSyncExternalStore } from "react";
import type { BackgroundTaskStatus } from "../../../src/protocol/tasks.ts";
import { useMedia } from "../browser/media.ts";
import { themeChoice } from "../shell/theme.ts";

export interface PlotColours {
  statuses: Record<BackgroundTaskStatus, string>;
  accent: string;
  text: string;
  line: string;
}

let known: { key: string; colours: PlotColours } | undefined;

export function usePlotColours(): PlotColours {
  const theme = useSyncExternalStore(themeChoice.subscribe, themeChoice.value);
  const isDark = useMedia("(prefers-color-scheme: dark)");
  const key = `${theme} ${isDark}`;
  if (known?.key !== key) known = { key, colours: resolved() };
  return known.colours;
}

/** A variable can contain both schemes' values; only an element's computed colour says which one applies. */
function resolved(): PlotColours {
  const probe = document.createElement("span");
  document.body.append(probe);
  const computed = (value: string) => {
    probe.style.color = value;
    return getComputedStyle(probe).color;
  };
  const colour = (name: string) => computed(`var(--${name})`);
  // Large areas in a text colour would be too loud.
  const soft = (name: string) => computed(`color-mix(in oklab, var(--${name}) 78%, var(--surface))`);
  const colours = {
    statuses: {
      completed: soft("completed"),
      running: soft("running"),
      resumed: soft("resumed"),
      error: soft("error"),
      cancelled: soft("cancelled"),
    },
    accent: soft("accent"),
    text: colour("faint"),
    line: colour("line"),
  };
  probe.remove();
  return colours;
}
