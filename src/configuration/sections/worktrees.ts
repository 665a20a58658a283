/** Where attempts and tasks with a worktree of their own work. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { optional } from "../section.ts";
import { text } from "../value-kinds.ts";

const isFolder = (given: string) => isAbsolute(given) || given.startsWith("~/");

export const worktrees = {
  means: "The git worktrees of attempts.",
  settings: {
    folder: optional(text("an absolute path, or one that begins with ~/", isFolder), {
      means: "The base folder of all worktrees.",
      variable: "ASYNCAGENTS_WORKTREES",
      otherwise: "worktrees, in the data folder",
    }),
  },
};

export function worktreesFolder(directory: string, { folder }: { folder: string | undefined }): string {
  if (folder === undefined) return join(directory, "worktrees");
  return folder.startsWith("~/") ? join(homedir(), folder.slice(2)) : folder;
}
