/**
 * Finds code that occurs twice: runs of equal lines, after trimming. Comments, blank lines and imports do not count.
 * It compares text, so code that was copied and renamed is not found.
 */
import { codeLines } from "../../test/ground/size.ts";
import { isExportDeclaration, isImportDeclaration, type SourceFile } from "../../test/ground/syntax.ts";

/** The number of equal lines in a row that counts as a repetition. */
export const BLOCK_LINES = 6;

export interface CodePlace {
  file: string;
  line: number;
}

/** Two places with the same lines of code. */
export interface RepeatedBlock {
  first: CodePlace;
  second: CodePlace;
  lines: number;
}

interface CodeLine {
  line: number;
  text: string;
}

/** Each pair of places once, with the whole length that they share. A block does not overlap with itself. */
export function repeatedBlocks(trees: ReadonlyMap<string, SourceFile>): RepeatedBlock[] {
  const files = [...trees].map(([file, tree]) => ({ file, code: comparableLines(tree) }));
  const seen = new Map<string, { file: string; code: CodeLine[]; at: number }[]>();
  const found: RepeatedBlock[] = [];
  for (const { file, code } of files) {
    for (let at = 0; at + BLOCK_LINES <= code.length; at++) {
      const key = code
        .slice(at, at + BLOCK_LINES)
        .map(({ text }) => text)
        .join("\n");
      const earlier = seen.get(key) ?? [];
      for (const other of earlier) {
        const lines = sharedLength(other, { code, at });
        if (lines < BLOCK_LINES || continuesEarlier(other, { code, at })) continue;
        found.push({ first: placeOf(other), second: placeOf({ file, code, at }), lines });
      }
      seen.set(key, [...earlier, { file, code, at }]);
    }
  }
  return found.sort((a, b) => b.lines - a.lines);
}

interface Position {
  code: CodeLine[];
  at: number;
}

function sharedLength(a: Position, b: Position): number {
  const limit = a.code === b.code ? b.at - a.at : Number.POSITIVE_INFINITY;
  let length = 0;
  while (length < limit && isSameLine(a.code[a.at + length], b.code[b.at + length])) length++;
  return length;
}

/** True where the pair is the rest of one that begins a line earlier. */
function continuesEarlier(a: Position, b: Position): boolean {
  return isSameLine(a.code[a.at - 1], b.code[b.at - 1]);
}

function isSameLine(a: CodeLine | undefined, b: CodeLine | undefined): boolean {
  return a !== undefined && b !== undefined && a.text === b.text;
}

function placeOf({ file, code, at }: Position & { file: string }): CodePlace {
  return { file, line: code[at]?.line ?? 0 };
}

function comparableLines(tree: SourceFile): CodeLine[] {
  const skipped = importLines(tree);
  const lines = tree.text.split("\n");
  return [...codeLines(tree)]
    .filter((line) => !skipped.has(line))
    .map((line) => ({ line, text: lines[line - 1]?.trim() ?? "" }));
}

function importLines(tree: SourceFile): Set<number> {
  const found = new Set<number>();
  for (const node of tree.statements) {
    if (!isImportDeclaration(node) && !(isExportDeclaration(node) && node.moduleSpecifier)) continue;
    const before = tree.text.slice(0, node.getStart(tree)).split("\n").length;
    const own = tree.text.slice(node.getStart(tree), node.end).split("\n").length;
    for (let line = before; line < before + own; line++) found.add(line);
  }
  return found;
}
