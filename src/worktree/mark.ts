/**
 * The ownership mark of a worktree: `<base>/.marks/<attempt folder>__<repo folder>.json`, outside every checkout, and a
 * copy in git's own folder for the worktree. It is written before the worktree is created, so that a crash leaves
 * nothing unknown. Invariant: the path of a worktree follows from the name of its mark, never from the mark's content.
 */
import { randomUUID } from "node:crypto";
import { linkSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { z } from "zod";
import { AsyncAgentsError } from "../model/errors.ts";
import { isFolderName } from "./folder-names.ts";
import { contentOf } from "./git/plain-file.ts";
import { adminFolderOf } from "./git/registered.ts";
import { makerSchema } from "./maker.ts";

const markSchema = z.object({
  attemptId: z.string().min(1),
  /** The folder of the repository, and git's folder in it. */
  repo: z.string(),
  gitDir: z.string(),
  branch: z.string(),
  targetBranch: z.string(),
  /** The commit that the branch started from. */
  baseCommit: z.string(),
  createdAt: z.iso.datetime(),
  /** Files that were copied into it: not work of the attempt. */
  copied: z.array(z.string()),
  stage: z.enum(["making", "ready", "removing"]),
  maker: makerSchema,
  /** What was merged into the target branch, and by which commit: a squash leaves no other trace. */
  merged: z.object({ head: z.string(), commit: z.string(), into: z.string() }).nullable(),
});

export type Mark = z.infer<typeof markSchema>;

/** A mark, and where its worktree is or was. */
export interface Marked {
  path: string;
  mark: Mark;
}

const FOLDER = ".marks";
const COPY = "asyncagents.json";

/** The base folder as git sees it. Created if missing, readable only by its owner: copied files may contain secrets. */
export function openBase(base: string): string {
  if (!isAbsolute(base) || base.includes("\0")) {
    throw new AsyncAgentsError("invalid_input", `The base folder ${JSON.stringify(base)} must be an absolute path.`);
  }
  mkdirSync(join(base, FOLDER), { recursive: true, mode: 0o700 });
  return realpathSync(base);
}

/** The mark of the worktree at `path`; null if it is not ours. */
export function readMark(path: string): Mark | null {
  return markedAt(path)?.mark ?? null;
}

/** The mark of the worktree at `path`, and the path as git writes it. */
export function markedAt(path: string): Marked | null {
  const place = placeOf(path);
  const mark = place && read(markFile(place));
  return mark && { path: join(place.base, place.attempt, place.repo), mark };
}

/** All marks in a base folder, by path. */
export function marksIn(base: string): Marked[] {
  const root = realPath(base);
  return root === null ? [] : markNames(root).flatMap((name) => markedBy(root, name) ?? []);
}

/** Writes the first mark of a worktree; false if there is one. */
export function claim({ path, mark }: Marked): boolean {
  const file = markFile(checkedPlace(path));
  const temporary = temporaryFile(file, mark);
  try {
    linkSync(temporary, file);
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Replaces the mark, and its copy if git has the worktree. */
export function rewrite({ path, mark }: Marked): void {
  const files = [markFile(checkedPlace(path))];
  const adminFolder = adminFolderOf(mark.gitDir, path);
  if (adminFolder) files.push(join(adminFolder, COPY));
  for (const file of files) renameSync(temporaryFile(file, mark), file);
}

export function erase(path: string): void {
  rmSync(markFile(checkedPlace(path)), { force: true });
}

/** True if git's own folder for the worktree confirms that it was created for this attempt. */
export function isConfirmed(mark: Mark, adminFolder: string): boolean {
  return read(join(adminFolder, COPY))?.attemptId === mark.attemptId;
}

interface MarkPlace {
  base: string;
  attempt: string;
  repo: string;
}

function placeOf(path: string): MarkPlace | null {
  const [repo, attempt] = [basename(path), basename(dirname(path))];
  const base = realPath(dirname(dirname(path)));
  return isAbsolute(path) && base && isFolderName(repo) && isFolderName(attempt) ? { base, attempt, repo } : null;
}

function checkedPlace(path: string): MarkPlace {
  const place = placeOf(path);
  if (!place) throw new AsyncAgentsError("internal", `${path} is not a valid path for a worktree.`);
  return place;
}

function markFile({ base, attempt, repo }: MarkPlace): string {
  return join(base, FOLDER, `${attempt}__${repo}.json`);
}

function markNames(root: string): string[] {
  try {
    return readdirSync(join(root, FOLDER)).sort();
  } catch {
    return [];
  }
}

function markedBy(root: string, name: string): Marked | null {
  // The folder of an attempt contains no underscore, so the first two of them end it.
  const [, attempt = "", repo = ""] = /^([a-z0-9-]+)__(.+)\.json$/.exec(name) ?? [];
  if (!isFolderName(attempt) || !isFolderName(repo)) return null;
  const mark = read(join(root, FOLDER, name));
  return mark && { path: join(root, attempt, repo), mark };
}

function read(file: string): Mark | null {
  try {
    return markSchema.parse(JSON.parse(contentOf(file) ?? ""));
  } catch {
    return null;
  }
}

function temporaryFile(file: string, mark: Mark): string {
  const temporary = `${file}.${randomUUID()}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(mark, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  return temporary;
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
