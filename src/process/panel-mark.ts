/**
 * Whether the panel in OpenCode's screen is known to the person: an empty file in the data folder. The panel leaves it
 * when it starts, and the plugin when it has told the person about the panel, so that this happens once. Never throws.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export function isPanelKnown(directory: string): boolean {
  return existsSync(fileIn(directory));
}

/** Returns whether it could be noted. */
export function notePanel(directory: string): boolean {
  try {
    writeFileSync(fileIn(directory), "", { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

function fileIn(directory: string): string {
  return join(directory, "panel-known");
}
