/**
 * Text that was typed but not sent: kept for this tab under a name, so that Escape, a click outside a dialog, back
 * and forward, and a reload lose nothing. If storage is blocked, it lasts as long as the page.
 */
import { useState } from "react";

const PREFIX = "asyncagents.draft.";
const here = new Map<string, string>();

/** The text, and a function that changes it; an empty text, or the initial one, is not a draft. */
export function useDraft(name: string, first = ""): [text: string, change: (text: string) => void] {
  const [text, setText] = useState(() => readDraft(name) ?? first);
  const change = (next: string) => {
    setText(next);
    keepDraft(name, next === first ? "" : next);
  };
  return [text, change];
}

/** To be called once the text is sent. */
export function forgetDraft(name: string): void {
  keepDraft(name, "");
}

function readDraft(name: string): string | null {
  try {
    return here.get(name) ?? window.sessionStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

function keepDraft(name: string, text: string): void {
  try {
    if (text === "") window.sessionStorage.removeItem(PREFIX + name);
    else window.sessionStorage.setItem(PREFIX + name, text);
    here.delete(name);
  } catch {
    // Storage can be full or blocked; the page itself still remembers.
    if (text === "") here.delete(name);
    else here.set(name, text);
  }
}
