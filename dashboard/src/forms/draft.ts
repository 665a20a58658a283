/**
 * What somebody typed and has not sent: kept for this tab under a name, so that Escape, a click beside a dialog, back and forward,
 * and a reload lose nothing. Where storage is forbidden it lasts as long as the page.
 */
import { useState } from "react";

const PREFIX = "asyncagents.draft.";
const here = new Map<string, string>();

/** The text, and the way to change it; an empty text, or the first one, is no draft. */
export function useDraft(name: string, first = ""): [text: string, change: (text: string) => void] {
  const [text, setText] = useState(() => readDraft(name) ?? first);
  const change = (next: string) => {
    setText(next);
    keepDraft(name, next === first ? "" : next);
  };
  return [text, change];
}

/** For whoever has sent it. */
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
    // Storage can be full or forbidden; the page itself still knows.
    if (text === "") here.delete(name);
    else here.set(name, text);
  }
}
