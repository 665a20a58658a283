/**
 * Finds a program of this machine by its name, wherever one looks: on the PATH, or in a node_modules folder above this
 * package. Installs and starts nothing.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Its path; null if it was not found. A path is only looked at. */
export function findProgram(name: string, path: string | undefined): string | null {
  return Bun.which(name, { PATH: path ?? "" }) ?? (/[\\/]/.test(name) ? null : besideThis(name));
}

function besideThis(name: string): string | null {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", ".bin", name);
    if (existsSync(path)) return path;
    if (folder === dirname(folder)) return null;
  }
}
