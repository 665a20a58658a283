/**
 * Where a repository has its objects and refs: links and alternates in git's folder can lead to those of any other.
 * Invariant: a folder of objects that git would read is in the list, or the repository is rejected. Read-only.
 */
import { type Dirent, existsSync, readdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { contentOf } from "./plain-file.ts";

/** Git follows five. */
const MOST_LEVELS = 10;
const MOST_ALTERNATES = 100;

/** The real folders. */
export function contentFolders(commonDir: string): string[] {
  const found = new Set([realpathSync(join(commonDir, "refs"))]);
  const visit = (objects: string, level: number) => {
    const real = realOf(objects);
    if (real === null || found.has(real)) return;
    found.add(real);
    for (const entry of entriesOf(real)) {
      const target = entry.isSymbolicLink() ? realOf(join(real, entry.name)) : null;
      if (target !== null) found.add(target);
    }
    const alternates = alternatesOf(real);
    if (found.size > MOST_ALTERNATES || (level === MOST_LEVELS && alternates.length > 0)) throw tooMany(commonDir);
    for (const alternate of alternates) visit(alternate, level + 1);
  };
  visit(join(commonDir, "objects"), 0);
  return [...found];
}

function alternatesOf(objects: string): string[] {
  const file = join(objects, "info", "alternates");
  const content = contentOf(file);
  if (content === null && existsSync(file))
    throw new AsyncAgentsError("repo_invalid", `${file} cannot be read. Correct it, then try again.`);
  const lines = (content ?? "").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  // Git reads it as a string of C.
  if (lines.some((line) => line.startsWith('"'))) {
    const message = `${file} has a path in quotes, which is not followed. Write it without, then try again.`;
    throw new AsyncAgentsError("repo_invalid", message);
  }
  return lines.map((line) => resolve(objects, line));
}

/** Nothing if it is no folder, or one that this user may not read: git reads nothing there either. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Null if there is nothing: git ignores it. */
function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function tooMany(commonDir: string): AsyncAgentsError {
  const message = `The objects of ${commonDir} are in too many other folders. Repack it (git repack -a -d), then try again.`;
  return new AsyncAgentsError("repo_invalid", message);
}
