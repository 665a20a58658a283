/**
 * How this program starts itself in a process of its own. Bun then installs nothing: by default it fetches packages
 * that a module imports, and that are not on the disk, from the network. The launcher (`bin/find-bun.mjs`) does the
 * same for the commands that people call.
 */
import { join } from "node:path";

/** The arguments of this process's Bun for a command of ours. */
export function ownProgram(...words: string[]): string[] {
  return ["--no-install", join(import.meta.dir, "../cli/main.ts"), ...words];
}
