/**
 * Texts that this browser remembers for a form's next time. Where storage is forbidden they are forgotten with the page.
 */

const PREFIX = "asyncagents.remembered.";
const here = new Map<string, string>();

export function remember(name: string, text: string): void {
  here.set(name, text);
  try {
    window.localStorage.setItem(PREFIX + name, text);
  } catch {
    // Storage can be full or forbidden; the page itself still knows.
  }
}

export function remembered(name: string): string | null {
  try {
    return here.get(name) ?? window.localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}
