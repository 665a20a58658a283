/**
 * Texts that this browser remembers for the next use of a form. If storage is blocked, they last as long as the page.
 */

const PREFIX = "asyncagents.remembered.";
const here = new Map<string, string>();

export function remember(name: string, text: string): void {
  here.set(name, text);
  try {
    window.localStorage.setItem(PREFIX + name, text);
  } catch {
    // Storage can be full or blocked; the page itself still remembers.
  }
}

export function remembered(name: string): string | null {
  try {
    return here.get(name) ?? window.localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}
