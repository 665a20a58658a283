/**
 * Finds OpenCode's program on this machine: as given, on PATH, or beside this package.
 * Installs and starts nothing.
 */
import { existsSync } from "node:fs";
import { findProgram } from "../find-program.ts";

export const NOT_INSTALLED =
  "OpenCode is not installed: there is no program `opencode` on PATH. Install it (npm install -g opencode-ai), or set ASYNCAGENTS_OPENCODE to its path.";

/** The program's path; null if it was not found. */
export function findOpenCode(environment: Record<string, string | undefined>, given?: string): string | null {
  if (given) return existsSync(given) ? given : Bun.which(given, { PATH: environment.PATH ?? "" });
  return findProgram("opencode", environment.PATH);
}
