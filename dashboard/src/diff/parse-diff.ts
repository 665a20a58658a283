/**
 * Parses git's unified diff into files, hunks and numbered lines. Relies on the counts in a hunk's header, not on how
 * its lines look, because a removed line can look like a header. A truncated diff ends where it was cut. Pure.
 */
import { pathIn, pathsOfHead } from "./diff-paths.ts";

export interface DiffLine {
  kind: "added" | "removed" | "context" | "note";
  text: string;
  /** Its number before and after; null if it does not exist there. */
  before: number | null;
  after: number | null;
}

export interface Hunk {
  /** The context that git names, such as the function. */
  around: string;
  lines: DiffLine[];
}

export interface FileDiff {
  path: string;
  /** Its previous path, if it was moved. */
  from: string | null;
  change: "added" | "removed" | "moved" | "changed";
  isBinary: boolean;
  /** What git says of its modes and objects: it changes with every byte, also of what has no lines. */
  versions: string;
  hunks: Hunk[];
  insertions: number;
  deletions: number;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

export function parseDiff(text: string): FileDiff[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const files: FileDiff[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const file = files.at(-1);
    if (line.startsWith("diff --git ")) {
      files.push(fileOf(line));
      at++;
    } else if (file && HUNK.test(line)) {
      at = readHunk(file, lines, at);
    } else {
      if (file) readHead(file, line);
      at++;
    }
  }
  return files;
}

function fileOf(head: string): FileDiff {
  const { before, after } = pathsOfHead(head);
  return {
    path: after,
    from: before === after ? null : before,
    change: "changed",
    isBinary: false,
    versions: "",
    hunks: [],
    insertions: 0,
    deletions: 0,
  };
}

function readHead(file: FileDiff, line: string): void {
  if (/^(index|(old|new|new file|deleted file) mode) /.test(line)) file.versions += `${line}\n`;
  if (line.startsWith("new file mode")) file.change = "added";
  else if (line.startsWith("deleted file mode")) file.change = "removed";
  else if (line.startsWith("rename from ")) {
    file.change = "moved";
    file.from = pathIn(line.slice("rename from ".length));
  } else if (line.startsWith("rename to ")) file.path = pathIn(line.slice("rename to ".length));
  else if (line.startsWith("Binary files ") || line === "GIT binary patch") file.isBinary = true;
}

/** Returns the position after the hunk. */
function readHunk(file: FileDiff, lines: readonly string[], start: number): number {
  const [, beforeStart, beforeCount = "1", afterStart, afterCount = "1", around = ""] =
    HUNK.exec(lines[start] ?? "") ?? [];
  const hunk: Hunk = { around, lines: [] };
  file.hunks.push(hunk);
  let [before, after] = [Number(beforeStart), Number(afterStart)];
  const [beforeEnd, afterEnd] = [before + Number(beforeCount), after + Number(afterCount)];
  let at = start + 1;
  for (; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const isNote = line.startsWith("\\");
    if (!isNote && before >= beforeEnd && after >= afterEnd) break;
    const text = line.slice(1);
    if (isNote) hunk.lines.push({ kind: "note", text: text.trim(), before: null, after: null });
    else if (line.startsWith("+")) {
      hunk.lines.push({ kind: "added", text, before: null, after: after++ });
      file.insertions++;
    } else if (line.startsWith("-")) {
      hunk.lines.push({ kind: "removed", text, before: before++, after: null });
      file.deletions++;
    } else hunk.lines.push({ kind: "context", text, before: before++, after: after++ });
  }
  return at;
}
