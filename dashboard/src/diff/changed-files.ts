/**
 * The changed files of a repository in the order of its diff: names and counts from git, lines as far as the diff
 * contains them. Files after the point where the diff was cut are included without lines. Pure.
 */
import type { RepoDiff } from "../server/operate.ts";
import { type FileDiff, parseDiff } from "./parse-diff.ts";

export interface ChangedFile extends FileDiff {
  shown: RepoDiff["changed_files"][number]["shown"];
}

export function changedFilesOf(repo: RepoDiff): ChangedFile[] {
  const parsed = new Map<string, FileDiff>();
  for (const file of parseDiff(repo.diff)) {
    const known = parsed.get(file.path);
    // A file that became a link is removed and added under one name.
    if (known) {
      known.hunks.push(...file.hunks);
      known.versions += file.versions;
    } else parsed.set(file.path, file);
  }
  const named = repo.changed_files.map(({ path, from, insertions, deletions, binary, shown }): ChangedFile => {
    const { hunks = [], versions = "", change = from === null ? "changed" : "moved" } = parsed.get(path) ?? {};
    parsed.delete(path);
    return { path, from, change, isBinary: binary, versions, hunks, insertions, deletions, shown };
  });
  return [...named, ...[...parsed.values()].map((file) => ({ ...file, shown: "whole" as const }))];
}

/** The part of a diff that nobody can have seen; null if all of it is there. */
export interface Unseen {
  /** None of their lines are shown. */
  hidden: string[];
  /** Shown up to where the diff was cut. */
  partly: string[];
  /** Files that are not even named. */
  unnamed: number;
  /** What git could not read, in its words. */
  unread: string[];
}

export function unseenIn(repos: readonly RepoDiff[]): Unseen | null {
  if (repos.every(({ complete }) => complete)) return null;
  const paths = (shown: ChangedFile["shown"]) =>
    repos.flatMap(({ changed_files }) => changed_files.filter((file) => file.shown === shown).map(({ path }) => path));
  return {
    hidden: paths("none"),
    partly: paths("part"),
    unnamed: repos.reduce((sum, { files_left_out }) => sum + files_left_out, 0),
    unread: repos.flatMap(({ unread }) => (unread === null ? [] : [unread])),
  };
}
