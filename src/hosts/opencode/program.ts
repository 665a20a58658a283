/**
 * Finds OpenCode's program on this machine: as given, on PATH, or beside this package.
 * Installs and starts nothing.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const NOT_INSTALLED =
  "OpenCode is not installed: there is no program `opencode` on PATH. Install it (npm install -g opencode-ai), or set ASYNCAGENTS_OPENCODE to its path.";

/** The program's path; null if it was not found. */
export function findOpenCode(environment: Record<string, string | undefined>, given?: string): string | null {
  if (given) return existsSync(given) ? given : Bun.which(given, { PATH: environment.PATH ?? "" });
  return Bun.which("opencode", { PATH: environment.PATH ?? "" }) ?? besideThis();
}

function besideThis(): string | null {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", ".bin", "opencode");
    if (existsSync(path)) return path;
    if (folder === dirname(folder)) return null;
  }
}
