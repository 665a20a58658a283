/**
 * Measures files and functions, and checks names: the limits of the house style as detectors. A line counts if it
 * contains code; comments and blank lines are free, so nobody skimps on them.
 */
import {
  descendants,
  isArrowFunction,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isGetAccessorDeclaration,
  isMethodDeclaration,
  isNoSubstitutionTemplateLiteral,
  isRegularExpressionLiteral,
  isSetAccessorDeclaration,
  isStringLiteral,
  isTemplateHead,
  isTemplateMiddle,
  isTemplateTail,
  lineOf,
  type Node,
  type SourceFile,
} from "./syntax.ts";

export const FILE_LIMIT = 400;
export const FUNCTION_LIMIT = 60;

/** The package's entry points: the only files that may re-export from others. */
export const barrels = ["src/index.ts", "src/testing/index.ts", "src/claude/index.ts", "src/client/index.ts"];

const vagueWords = ["manager", "util", "utils", "helper", "helpers", "common", "misc", "new", "old", "legacy"];

/** The numbers of the lines that contain code, from 1. */
export function codeLines(tree: SourceFile): Set<number> {
  return linesHolding(tree).code;
}

/** The numbers of the lines that hold code, and of those that hold a comment, from 1. A line can be in both. */
export function linesHolding(tree: SourceFile): { code: Set<number>; comment: Set<number> } {
  const { text } = tree;
  const literals = new Map<number, number>();
  for (const node of descendants(tree)) if (isOpaque(node)) literals.set(node.getStart(tree), node.end);
  const [code, comment] = [new Set<number>(), new Set<number>()];
  let line = 1;
  for (let i = 0; i < text.length; ) {
    const end = literals.get(i) ?? commentEnd(text, i) ?? i + 1;
    const isComment = !literals.has(i) && end > i + 1;
    for (; i < end; i++) {
      if (text[i] === "\n") line++;
      else if (text[i]?.trim()) (isComment ? comment : code).add(line);
    }
  }
  return { code, comment };
}

/** What can contain `//` without being a comment. */
function isOpaque(node: Node): boolean {
  return (
    isStringLiteral(node) ||
    isNoSubstitutionTemplateLiteral(node) ||
    isTemplateHead(node) ||
    isTemplateMiddle(node) ||
    isTemplateTail(node) ||
    isRegularExpressionLiteral(node)
  );
}

function commentEnd(text: string, start: number): number | undefined {
  const closing = { "//": "\n", "/*": "*/" }[text.slice(start, start + 2)];
  if (!closing) return undefined;
  const found = text.indexOf(closing, start + 2);
  if (found === -1) return text.length;
  return closing === "\n" ? found : found + closing.length;
}

/**
 * The code lines of each function. Inner functions are measured separately, so a factory is not charged for its
 * methods.
 */
export function functionSizes(tree: SourceFile): { line: number; size: number }[] {
  const code = codeLines(tree);
  const ranges = [...descendants(tree)].filter(isFunction).map((node) => {
    const first = lineOf(tree, node);
    return { first, last: first + tree.text.slice(node.getStart(tree), node.end).split("\n").length - 1 };
  });
  return ranges.map((range) => {
    const inner = ranges.filter((other) => other.first > range.first && other.last < range.last);
    const isOwn = (line: number) => !inner.some(({ first, last }) => line >= first && line <= last);
    const own = [...code].filter((line) => line >= range.first && line <= range.last && isOwn(line));
    return { line: range.first, size: own.length };
  });
}

function isFunction(node: Node): boolean {
  return (
    isFunctionDeclaration(node) ||
    isFunctionExpression(node) ||
    isArrowFunction(node) ||
    isMethodDeclaration(node) ||
    isConstructorDeclaration(node) ||
    isGetAccessorDeclaration(node) ||
    isSetAccessorDeclaration(node)
  );
}

/** Named for a class that users know by that name. */
const KNOWN_NAMES = ["task-manager"];

/** What is wrong with the name of a source file. */
export function nameProblems(path: string): string[] {
  const file = path.slice(path.lastIndexOf("/") + 1);
  const [stem = "", ...endings] = file.split(".");
  const problems: string[] = [];
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(stem)) problems.push(`${path}: is not in kebab-case`);
  const vague = KNOWN_NAMES.includes(stem)
    ? undefined
    : stem.split("-").find((word) => vagueWords.includes(word) || /^v\d+$/.test(word));
  if (vague) problems.push(`${path}: "${vague}" says nothing: name the file for the noun it exports`);
  if (stem === "index" && /^tsx?$/.test(endings.join(".")) && !barrels.includes(path)) {
    problems.push(`${path}: no index files but the package entries: import from the file itself`);
  }
  return problems;
}

/** A larger folder should be split. */
export const FOLDER_LIMIT = 22;

/** A numbered series, which only grows and is read from its end. */
const SERIES: ReadonlySet<string> = new Set(["src/store/migrations"]);

/** Folders with too many files directly in them, each with the count. */
export function fullFolders(paths: readonly string[]): string[] {
  return folderSizes(paths)
    .filter(({ folder, files }) => files > FOLDER_LIMIT && !SERIES.has(folder))
    .map(({ folder, files }) => `${folder}: ${files} files`);
}

export interface FolderSize {
  folder: string;
  files: number;
}

/** The number of files directly in each folder, the fullest first. */
export function folderSizes(paths: readonly string[]): FolderSize[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.slice(0, path.lastIndexOf("/"));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .map(([folder, files]) => ({ folder, files }))
    .sort((a, b) => b.files - a.files || (a.folder < b.folder ? -1 : 1));
}

/** True if the file starts with a comment, after an optional shebang. */
export function hasHeader(text: string): boolean {
  return /^(#!.*\n)?\s*(\/\*|\/\/)/.test(text);
}
