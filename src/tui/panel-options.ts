/**
 * The options of the panel, as in OpenCode's `tui.json`. What is not usable is replaced by the default: a wrong option
 * must not cost the person the panel.
 */
import type { ServerAddress } from "./find-server.ts";

export interface PanelOptions {
  /** Opens the list; null: no key. */
  key: string | null;
  /** Opens the list on the whole screen; null: no key. */
  screenKey: string | null;
  /** A server elsewhere; null: the one of this machine. */
  server: ServerAddress | null;
}

const KEY = "<leader>j";
const SCREEN_KEY = "f6";

export function panelOptions(given: unknown): PanelOptions {
  const { key, screenKey, url, token } = (given ?? {}) as Record<string, unknown>;
  return {
    key: keyOption(key, KEY),
    screenKey: keyOption(screenKey, SCREEN_KEY),
    server:
      typeof url === "string" && URL.canParse(url) ? { url, token: typeof token === "string" ? token : "" } : null,
  };
}

/** `false` or "none" switches it off. */
function keyOption(given: unknown, usual: string): string | null {
  if (given === false || given === "none") return null;
  return typeof given === "string" && given !== "" ? given : usual;
}
